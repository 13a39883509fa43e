# Asks what stands in the file $REQUESTS, a method and its parameters on each line, and tells what it is answered. Updates have
# no answer.
. "${0%/*}/acp.sh"

await '"initialize"'
tell "initialize: $line"
answer '{"protocolVersion":1,"agentCapabilities":{}}'
await '"session/new"'
tell "new: $line"
session=s
answer '{"sessionId":"s"}'
prompt
number=0
while read -r method params <&3; do
    if [ "$method" = session/update ]; then
        say '{"jsonrpc":"2.0","method":"session/update","params":'"$params"'}'
        continue
    fi
    number=$((number + 1))
    say '{"jsonrpc":"2.0","id":"q'"$number"'","method":"'"$method"'","params":'"$params"'}'
    await '"id":"q'"$number"'"'
    tell "$line"
done 3<"$REQUESTS"
text 'asked'
end_turn
await '"never"'

# Dies in its second turn; started again, it loads the session that it had, and tells it again.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}'
await '"session/'
case $line in
*'"session/new"'*)
    session=s
    answer '{"sessionId":"s"}'
    prompt
    text 'first'
    end_turn
    prompt
    text 'second'
    exit 3
    ;;
esac
session=s
tell "asked: $line"
update '"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"one"}'
text 'first, as it was'
answer '{}'
prompt
tell "asked: $line"
text 'and on'
end_turn
await '"never"'

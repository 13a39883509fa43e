# Asks for what no client has, and waits for the answer.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
say '{"jsonrpc":"2.0","id":"q-1","method":"craft/drainMidTurnQueue","params":{"sessionId":"s"}}'
await '"q-1"'
case $line in
*-32601*) text 'there is no such method' ;;
*) text 'that was unexpected' ;;
esac
end_turn
await '"never"'

# Loses its session between two turns, as an agent does that keeps them for some time only.
. "${0%/*}/acp.sh"

initialize
new_session first
prompt
text 'before'
end_turn
prompt
say '{"jsonrpc":"2.0","id":'"$prompt"',"error":{"code":-32002,"message":"Session not found","data":{"sessionId":"first"}}}'
new_session second
prompt
text 'after'
end_turn
await '"never"'

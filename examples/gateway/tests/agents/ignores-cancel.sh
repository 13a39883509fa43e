# Ignores that it was cancelled, and asks for permission when it was left.
. "${0%/*}/acp.sh"

initialize
new_session first
prompt
text 'working'
await '"session/cancel"'
tell 'heard and ignored'
await '"session/new"'
new=$id
session=first
text 'still here'
say '{"jsonrpc":"2.0","id":"p-1","method":"session/request_permission","params":{"sessionId":"first","toolCall":{"toolCallId":"t1"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}'
await '"p-1"'
tell "permission: $line"
id=$prompt
answer '{"stopReason":"end_turn"}'
session=second
id=$new
answer '{"sessionId":"second"}'
prompt
text 'a new session'
end_turn
await '"never"'

# Says what is not so: of sessions that nobody has, answers to what nobody asked, two requests of one id, two ends of a turn.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
session=nobody
text 'from nowhere'
ask='"method":"session/request_permission","params":{"sessionId":"nobody","toolCall":{"toolCallId":"t1"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}'
say '{"jsonrpc":"2.0","id":"p-1",'"$ask"'}'
await '"p-1"'
tell "of nobody: $line"
session=s
for id in 9999 '"p-1"' '"never"' -1 null; do
    answer '{"stopReason":"refusal"}'
done
say '{"jsonrpc":"2.0","id":9998,"error":{"code":-32603,"message":"no"}}'
text 'the truth'
end_turn
end_turn refusal
prompt
text 'again'
end_turn
await '"never"'

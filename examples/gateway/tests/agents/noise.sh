# Writes lines that are no messages, wherever it can.
. "${0%/*}/acp.sh"

say 'Welcome to the noisy agent!'
initialize
say 'npm warn deprecated everything@1.0.0'
say '42'
say '"text"'
say '[1,2,3]'
new_session
say '{"jsonrpc":"2.0"}'
say '{"jsonrpc":"2.0","method":"session/update"}'
prompt
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}'
say '{"jsonrpc":"2.0","method":"session/update","params":['
text 'through the noise'
end_turn
await '"never"'

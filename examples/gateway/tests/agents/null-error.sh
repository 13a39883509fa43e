# Complains about a message without saying which.
. "${0%/*}/acp.sh"

initialize
new_session
say '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
prompt
say '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}'
say '{"jsonrpc":"2.0","id":9999,"result":{}}'
text 'never mind'
end_turn
await '"never"'

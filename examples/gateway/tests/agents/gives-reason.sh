# Refuses a prompt with the reason in the data of its error.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
say '{"jsonrpc":"2.0","id":'"$prompt"',"error":{"code":-32603,"message":"Internal error","data":{"details":"Unauthorized (401) from https://u:p@api.example/v1?key=k, token Bearer abc"}}}'
await '"never"'

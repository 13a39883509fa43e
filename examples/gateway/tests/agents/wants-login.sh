# Opens no session for people it does not know.
. "${0%/*}/acp.sh"

initialize
while await '"session/new"'; do
    say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32000,"message":"Authentication required"}}'
done

# Opens no session without a login, and knows three methods.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{},"authMethods":[{"id":"browser","name":"Log in"},{"id":"key","name":"API key","type":"env_var","vars":[{"name":"SOME_KEY"}]},{"id":"cli","name":"Terminal","type":"terminal","args":["auth","login"]}]}'
while await '"method":"'; do
    case $line in
    *'"authenticate"'*'"nonsense"'*) say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32602,"message":"Invalid params"}}' ;;
    *'"session/new"'*) say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32000,"message":"Authentication required"}}' ;;
    esac
done

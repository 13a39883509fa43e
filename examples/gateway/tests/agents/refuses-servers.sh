# Announces MCP over HTTP, and accepts sessions without servers only.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}'
sessions=0
while await '"method":"'; do
    case $line in
    *'"session/new"'*'"mcpServers":[]'*)
        sessions=$((sessions + 1))
        session=s$sessions
        answer '{"sessionId":"'"$session"'"}'
        ;;
    *'"session/new"'*)
        tell "refused: $line"
        say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32603,"message":"Internal error","data":"404 from the server"}}'
        ;;
    *'"session/prompt"'*)
        prompt=$id
        text 'without tools'
        end_turn
        ;;
    esac
done

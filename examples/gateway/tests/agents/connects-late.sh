# Announces MCP over HTTP, and connects to the servers of a session in its first prompt, where it fails.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}'
sessions=0
while await '"method":"'; do
    case $line in
    *'"session/new"'*)
        sessions=$((sessions + 1))
        session=s$sessions
        servers=some
        case $line in
        *'"mcpServers":[]'*) servers=none ;;
        esac
        answer '{"sessionId":"'"$session"'"}'
        update '"sessionUpdate":"available_commands_update","availableCommands":[]'
        ;;
    *'"session/prompt"'*'fail'*)
        say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32603,"message":"Internal error","data":"no model"}}'
        ;;
    *'"session/prompt"'*)
        prompt=$id
        if [ "$servers" = none ]; then
            text 'without tools'
            end_turn
        else
            tell "failed: $session"
            say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32603,"message":"Internal error","data":"MCP server ui: 404"}}'
        fi
        ;;
    esac
done

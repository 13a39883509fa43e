# Speaks version 2, and opens no session without a login, by a method of the agent or in a terminal.
. "${0%/*}/acp.sh"

if [ "${1-}" = login ]; then
    [ "$GREETING" = hello ] && : > "$MARK"
    exit
fi

refuse() {
    say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32000,"message":"Authentication required"}}'
}

state() {
    say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update",'"$1"'}}}'
}

await '"initialize"'
answer '{"protocolVersion":2,"info":{"name":"signs-in","version":"2"},"capabilities":{"session":{},"auth":{"status":{}}},"authMethods":[{"type":"agent","methodId":"browser","name":"Log in"},{"type":"terminal","methodId":"cli","name":"Terminal","args":["login"],"env":[{"name":"GREETING","value":"hello"}]}]}'
while await '"method":"'; do
    case $line in
    *'"auth/login"'*'"browser"'*) : > "$MARK"; answer '{}' ;;
    *'"auth/logout"'*) rm -f "$MARK"; answer '{}' ;;
    *'"auth/status"'*)
        if [ -e "$MARK" ]; then answer '{"state":"authenticated","accounts":[{"label":"Ada"}]}'; else answer '{"state":"unauthenticated"}'; fi ;;
    *'"session/resume"'*) if [ -e "$MARK" ]; then state '"state":"idle"'; answer '{}'; else refuse; fi ;;
    *'"session/new"'*) if [ -e "$MARK" ]; then answer '{"sessionId":"s"}'; else refuse; fi ;;
    *'"session/prompt"'*)
        answer '{"messageId":"m"}'
        state '"state":"running"'
        state '"state":"idle","stopReason":"end_turn"' ;;
    esac
done

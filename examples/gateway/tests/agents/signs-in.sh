# Opens no session without a login, by a method of the agent, by SOME_KEY, or in a terminal, where it runs with `login`.
# MARK names the file that a login in a terminal leaves.
if [ "${1-}" = login ]; then
    printf 'Visit https://login.example/device\n%s code? ' "$GREETING"
    read -r code
    [ -t 0 ] && [ "$code" = 1234 ] && : > "$MARK" && exit 0
    echo 'a wrong code'
    exit 3
fi

. "${0%/*}/acp.sh"

refuse() {
    say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":'"$1"',"message":"'"$2"'"}}'
}

is_logged_in() {
    [ "$browser" = yes ] || [ "${SOME_KEY-}" = open-sesame-1234 ] || [ -e "$MARK" ]
}

browser=no
echo "starting with ${SOME_KEY-no key}"
await '"initialize"'
case $line in *'"auth":{"terminal":true}'*) tell 'offered a terminal' ;; esac
answer '{"protocolVersion":1,"agentCapabilities":{"auth":{"logout":{},"status":{}}},"authMethods":[{"id":"browser","name":"Log in","description":"Opens a browser."},{"id":"slow","name":"Slow"},{"id":"key","name":"API key","type":"env_var","link":"https://keys.example/","vars":[{"name":"SOME_KEY","label":"Key"},{"name":"SOME_NAME","secret":false,"optional":true}]},{"id":"cli","name":"Terminal","type":"terminal","args":["login"],"env":{"GREETING":"Your"}}]}'
while await '"method":"'; do
    case $line in
    *'"authenticate"'*'"browser"'*) browser=yes; answer '{}' ;;
    *'"authenticate"'*'"slow"'*) slow=$id; tell 'slow' ;;
    *'"$/cancel_request"'*) id=$slow; tell 'withdrawn'; refuse -32800 'cancelled' ;;
    *'"authenticate"'*'"key"'*) if is_logged_in; then answer '{}'; else refuse -32603 "the key $SOME_KEY is wrong"; fi ;;
    *'"auth/status"'*)
        if is_logged_in; then answer '{"state":"authenticated","accounts":[{"label":"Ada"}]}'; else answer '{"state":"unauthenticated"}'; fi ;;
    *'"logout"'*) browser=no; rm -f "$MARK"; answer '{}' ;;
    *'"session/new"'*) if is_logged_in; then answer '{"sessionId":"s"}'; session=s; else refuse -32000 'Authentication required'; fi ;;
    *'"session/prompt"'*'stay'*) prompt=$id; text 'staying' ;;
    *'"session/cancel"'*) end_turn cancelled ;;
    *'"session/prompt"'*'fail'*) refuse -32603 "no use of $SOME_KEY" ;;
    *'"session/prompt"'*) prompt=$id; text "hello with ${SOME_NAME-no name}"; end_turn ;;
    esac
done

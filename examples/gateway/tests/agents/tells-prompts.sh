# Tells each prompt that it has, in sessions s1, s2, and so on, and what is set in them.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}}}'
number=0
while :; do
    await '"session/'
    case $line in
    *'"session/new"'*)
        number=$((number + 1))
        session=s$number
        answer '{"sessionId":"'"$session"'"}'
        ;;
    *'"session/close"'*)
        tell 'closed'
        answer '{}'
        ;;
    *'"session/set_'*)
        tell "set: $line"
        answer '{"configOptions":[]}'
        ;;
    *'"session/prompt"'*)
        prompt=$id
        tell "prompt: $line"
        text "answer $prompt"
        end_turn
        ;;
    esac
done

# Does not answer its first prompt, not even when it is cancelled. Started again, it resumes the session.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}'
await '"session/'
session=s
case $line in
*'"session/new"'*)
    answer '{"sessionId":"s"}'
    prompt
    tell 'asked'
    await '"never"'
    ;;
esac
answer '{}'
prompt
tell "asked: $line"
text 'and on'
end_turn
await '"never"'

# Dies in its second turn; started again, it resumes the session that it had.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}'
await '"session/'
case $line in
*'"session/new"'*)
    session=s
    answer '{"sessionId":"s"}'
    prompt
    text 'first'
    end_turn
    prompt
    text 'second'
    exit 3
    ;;
esac
session=s
tell "asked: $line"
answer '{}'
prompt
tell "asked: $line"
text 'and on'
end_turn
await '"never"'

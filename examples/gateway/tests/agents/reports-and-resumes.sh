# Has a session for good: started again, it resumes it, and reports its title before the response.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{},"close":{}}}}'
await '"session/'
session=s
case $line in
*'"session/new"'*)
    answer '{"sessionId":"s"}'
    prompt
    text 'first'
    end_turn
    await '"session/close"'
    tell 'asked: to close its session'
    answer '{}'
    await '"never"'
    ;;
esac
tell "asked: $line"
update '"sessionUpdate":"session_info_update","title":"T"'
update '"sessionUpdate":"available_commands_update","availableCommands":[]'
answer '{}'
go_on

# Speaks in a session before it has said that there is one.
. "${0%/*}/acp.sh"

initialize
await '"session/new"'
session=s
update '"sessionUpdate":"current_mode_update","currentModeId":"eager"'
session=another
update '"sessionUpdate":"current_mode_update","currentModeId":"of nobody"'
session=s
answer '{"sessionId":"s"}'
prompt
end_turn
await '"never"'

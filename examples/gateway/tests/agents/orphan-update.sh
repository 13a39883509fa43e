# Goes on with a tool call that never began.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
update '"sessionUpdate":"tool_call_update","toolCallId":"t9","title":"Read notes","kind":"read","status":"in_progress"'
update '"sessionUpdate":"tool_call_update","toolCallId":"t9","status":"completed","rawOutput":"the notes"'
end_turn
await '"never"'

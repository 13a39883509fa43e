# Dies with a text, a thought and a tool call open.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
update '"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"I feel unwell"}'
text 'I was about to '
update '"sessionUpdate":"tool_call","toolCallId":"t1","title":"Last act","kind":"execute","status":"in_progress","rawInput":{"a":1}'
text 'say that'
exit 7

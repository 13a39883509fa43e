# Says what a newer agent may say: an update, content, a tool, a stop reason of kinds that are not known.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
update '"sessionUpdate":"weather_update","sky":"clear"'
update '"sessionUpdate":"agent_message_chunk","content":{"type":"hologram","data":"x"}'
update '"sessionUpdate":"tool_call","toolCallId":"t1","title":"Dream","kind":"dream","status":"asleep"'
update '"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"smell"}]'
say '{"jsonrpc":"2.0","method":"_vendor/mood","params":{"mood":"fine"}}'
text 'understood?'
end_turn 'out_of_credits'
await '"never"'

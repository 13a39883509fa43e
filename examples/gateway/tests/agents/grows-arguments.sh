# Tells a tool call whose arguments grow, as the agent does whose name is $NAME.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"'"$NAME"'","version":"1"}}'
new_session
prompt
update '"sessionUpdate":"tool_call","toolCallId":"t","title":"Read","status":"pending","rawInput":{"path":"x"}'
update '"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":{"path":"x","line":1}'
update '"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"'
end_turn
await '"never"'

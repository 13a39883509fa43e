# Writes bytes that are not UTF-8.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
printf '\377\376\n'
printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\303("}}}}\n'
text 'caf\u00e9'
end_turn
await '"never"'

# Writes lines of more than 16 MiB: an update, then the answer to a prompt.
. "${0%/*}/acp.sh"

long() {
    head -c 17000000 /dev/zero | tr '\0' x
}

initialize
new_session
prompt
printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'
long
say '"}}}}'
text 'the rest is short'
end_turn
prompt
printf '{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn","_meta":{"long":"' "$prompt"
long
say '"}}}'
await '"never"'

# Does not stop when it is cancelled; the session is closed then.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}}}'
new_session
prompt
text 'working'
await '"session/close"'
tell "closed: $line"
answer '{}'
await '"never"'

# Speaks another version of the protocol.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":2,"info":{"name":"newer","version":"9"},"capabilities":{}}'
await '"never"'

# Speaks another version of the protocol.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":3,"info":{"name":"newer","version":"9"},"capabilities":{}}'
await '"never"'

# Exits where it should answer the greeting.
. "${0%/*}/acp.sh"

await '"initialize"'
exit 7

# Writes only text for people, and ends.
. "${0%/*}/acp.sh"

await '"initialize"'
say 'This program has reached its end of life. Key: sk-0123456789'

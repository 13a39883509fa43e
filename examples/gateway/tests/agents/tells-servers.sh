# Tells what it is given with its session, and works until it is told to end.
. "${0%/*}/acp.sh"

initialize
await '"session/new"'
tell "new: $line"
session=s
answer '{"sessionId":"s"}'
prompt
text 'working'
await '"never"'

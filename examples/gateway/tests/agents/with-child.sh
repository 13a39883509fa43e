# Has a process of its own at work, which holds its output open.
. "${0%/*}/acp.sh"

sleep 1000 &
initialize
new_session
prompt
text 'working'
await '"session/'

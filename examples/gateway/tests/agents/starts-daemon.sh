# Starts a daemon: a process in a session of its own, with two forks. Only standard error connects it.
. "${0%/*}/acp.sh"

setsid sh -c 'sleep 1000 & exit' </dev/null >/dev/null
initialize
new_session
prompt
text 'working'
await '"session/cancel"'
end_turn cancelled
await '"never"'

# Works until it is cancelled; the next turn is short.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
text 'working'
await '"session/cancel"'
end_turn cancelled
tell 'cancelled'
prompt
text 'and again'
end_turn
await '"never"'

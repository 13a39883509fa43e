# Gives every session the same id.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
text 'mine'
new_session
end_turn
await '"never"'

# Goes on speaking when the turn is over.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
text 'in time'
end_turn
text 'too late'
tell 'said it late'
prompt
text 'in time again'
end_turn
await '"never"'

# Escapes half of a character.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
text 'before, '
text '\ud83d'
text 'after'
end_turn
await '"never"'

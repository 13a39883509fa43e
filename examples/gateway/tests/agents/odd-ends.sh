# Ends its turns in ways that are none.
. "${0%/*}/acp.sh"

initialize
new_session
for end in '{"stopReason":5}' '{}' 'null' '"end_turn"' '[]' '{"stopReason":"cancelled"}'; do
    prompt
    text "$(printf %s "$end" | tr -d '"')"
    id=$prompt
    answer "$end"
done
prompt
text 'and well'
end_turn
await '"never"'

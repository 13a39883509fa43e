# Writes megabytes to its standard error in each turn.
. "${0%/*}/acp.sh"

initialize
new_session
while :; do
    prompt
    yes 'agent: an error' | head -c 4000000 >&2
    text 'that was much'
    end_turn
done

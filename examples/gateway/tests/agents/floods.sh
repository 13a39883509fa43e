# Says more than anybody reads, until it is cancelled; in the next session it is quiet.
. "${0%/*}/acp.sh"

long=$(head -c 60000 /dev/zero | tr '\0' x)
initialize
new_session first
prompt
while :; do
    text "$long"
done &
flood=$!
await '"session/cancel"'
kill "$flood"
wait "$flood"
say ''
tell 'cancelled'
end_turn cancelled
new_session second
prompt
text 'quiet'
end_turn
await '"never"'

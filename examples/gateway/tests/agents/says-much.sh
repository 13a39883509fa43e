# Says more than the buffers of a connection hold, and waits until it is cancelled.
. "${0%/*}/acp.sh"

long=$(head -c 100000 /dev/zero | tr '\0' x)
initialize
new_session
prompt
count=0
while [ "$count" -lt 250 ]; do
    text "$long"
    count=$((count + 1))
done
await '"session/cancel"'
end_turn cancelled
tell 'cancelled'
await '"never"'

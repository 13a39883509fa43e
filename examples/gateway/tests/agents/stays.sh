# Ends neither with its input nor when it is terminated.
. "${0%/*}/acp.sh"

trap '' TERM
initialize
new_session
prompt
end_turn
while :; do
    sleep 1000
done

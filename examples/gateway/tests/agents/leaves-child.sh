# Dies mid-turn; a process that it started holds its output open.
. "${0%/*}/acp.sh"

sleep 1000 &
initialize
new_session
prompt
text 'farewell'
exit 7

# Closes its output mid-turn, and stays.
. "${0%/*}/acp.sh"

initialize
new_session
prompt
text 'farewell'
exec sleep 1000 >&-

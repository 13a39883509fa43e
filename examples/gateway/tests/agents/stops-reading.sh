# Reads no further once there is a session.
. "${0%/*}/acp.sh"

initialize
new_session
tell 'reads no more'
exec sleep 1000

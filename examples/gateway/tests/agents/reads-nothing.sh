# Never reads its input.
. "${0%/*}/acp.sh"

tell 'started'
exec sleep 1000

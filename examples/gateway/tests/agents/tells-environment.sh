# Tells the variables of its environment that begin as the gateway's do.
. "${0%/*}/acp.sh"

tell "variables: $(env | grep '^GATEWAY_' | tr '\n' ' ')"
initialize
new_session
prompt
end_turn
await '"never"'

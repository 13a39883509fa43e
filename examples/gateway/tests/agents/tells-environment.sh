# Tells the variables of its environment that begin as the gateway's do, or as those of a test.
. "${0%/*}/acp.sh"

tell "variables: $(env | grep -e '^GATEWAY_' -e '^TEST_' | tr '\n' ' ')"
initialize
new_session
prompt
end_turn
await '"never"'

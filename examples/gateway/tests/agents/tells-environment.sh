# Tells the variables of its environment that begin as those of the gateway, of OpenTelemetry or of a test do.
. "${0%/*}/acp.sh"

tell "variables: $(env | grep -e '^GATEWAY_' -e '^OTEL_' -e '^TEST_' | tr '\n' ' ')"
initialize
new_session
prompt
end_turn
await '"never"'

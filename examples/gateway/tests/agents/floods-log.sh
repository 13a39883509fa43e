# Writes updates of a session that was never opened: some in the first turn, and no end of them in the second.
. "${0%/*}/acp.sh"

stray='{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"plan","entries":[]}}}'
initialize
new_session
prompt
yes "$stray" | head -n 2000
text 'that was much'
end_turn
prompt
yes "$stray"

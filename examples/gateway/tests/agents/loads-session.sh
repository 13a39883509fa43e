# Dies in its second turn; started again, it loads the session that it had, and tells it again.
. "${0%/*}/acp.sh"

die_once '{"loadSession":true}'
update '"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"one"}'
text 'first, as it was'
answer '{}'
go_on

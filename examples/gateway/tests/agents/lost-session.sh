# Dies in its second turn; started again, it does not know the session that it had.
. "${0%/*}/acp.sh"

die_once '{"loadSession":true}'
say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32002,"message":"no such session"}}'
new_session t
go_on

# Dies in its second turn; started again, it resumes the session that it had.
. "${0%/*}/acp.sh"

die_once '{"loadSession":true,"sessionCapabilities":{"resume":{}}}'
answer '{}'
go_on

# Has a session for good: started again, it responds to `session/load` before it repeats the conversation.
. "${0%/*}/acp.sh"

await '"initialize"'
answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}'
await '"session/'
session=s
case $line in
*'"session/new"'*)
    answer '{"sessionId":"s"}'
    prompt
    update '"sessionUpdate":"tool_call","toolCallId":"t1","title":"Edit","kind":"edit","status":"completed"'
    text 'first'
    end_turn
    await '"never"'
    ;;
esac
tell "asked: $line"
update '"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"<session_context>"}'
answer '{}'
update '"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"one"}'
update '"sessionUpdate":"tool_call","toolCallId":"t1","title":"Edit","kind":"edit","status":"completed"'
update '"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"[Function Response: edit]"}'
text 'first'
go_on

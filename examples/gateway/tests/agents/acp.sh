# What the agents of the tests have in common: enough of ACP to be asked for a turn. Sourced, not run.

# Says a line to the gateway.
say() {
    printf '%s\n' "$1"
}

# Says a line to the test: the gateway's standard error is the agent's.
tell() {
    printf 'agent: %s\n' "$1" >&2
}

# Waits for a message that has this in it; $line is the message and $id its id. The end of the input ends the agent.
await() {
    while read -r line; do
        case $line in
        *"$1"*)
            id=${line#*'"id":'}
            id=${id%%[,\}]*}
            return
            ;;
        esac
    done
    exit 0
}

# Answers the message that was waited for.
answer() {
    say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'
}

initialize() {
    await '"initialize"'
    answer '{"protocolVersion":1,"agentCapabilities":{}}'
}

# Opens a session; $1 is its id, `s` unless given.
new_session() {
    await '"session/new"'
    session=${1:-s}
    answer '{"sessionId":"'"$session"'"}'
}

# Waits for a prompt; $prompt is the id of the request.
prompt() {
    await '"session/prompt"'
    prompt=$id
}

# Sends an update of the session; $1 is what it has beside its kind.
update() {
    say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"'"$session"'","update":{'"$1"'}}}'
}

text() {
    update '"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'"}'
}

# Ends the turn, as $1 says or as `end_turn`.
end_turn() {
    id=$prompt
    answer '{"stopReason":"'"${1:-end_turn}"'"}'
}

# The life of an agent that dies in its second turn; one that was started again goes on behind it, with a session that it is
# asked to come back to. $1 is what the agent can do.
die_once() {
    await '"initialize"'
    answer '{"protocolVersion":1,"agentCapabilities":'"$1"'}'
    await '"session/'
    session=s
    case $line in
    *'"session/new"'*)
        answer '{"sessionId":"s"}'
        prompt
        text 'first'
        end_turn
        prompt
        text 'second'
        exit 3
        ;;
    esac
    tell "asked: $line"
}

# One turn, of which the test is told what was asked.
go_on() {
    prompt
    tell "asked: $line"
    text 'and on'
    end_turn
    await '"never"'
}

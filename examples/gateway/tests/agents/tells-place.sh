# Answers each prompt with its process, its home, a variable and the working directory of the session.
. "${0%/*}/acp.sh"

initialize
number=0
while :; do
    await '"method":"session/'
    case $line in
    *'"session/new"'*)
        number=$((number + 1))
        cwd=${line#*'"cwd":"'}
        cwd=${cwd%%\"*}
        answer '{"sessionId":"s'"$number"'"}'
        ;;
    *'"session/prompt"'*)
        prompt=$id
        session=${line#*'"sessionId":"'}
        session=${session%%\"*}
        text "$$ $HOME $TEST_KEY $cwd"
        end_turn
        ;;
    esac
done

"""Lines of an agent during a turn. The expected outcome is the end of the run, and what the agent was answered.

A row is a name, the rule, the expected outcome as a pattern, and the lines; `agents/hostile-agent.py` writes them.
"""
import json
import re
import uuid

from .peer import body_of, chat, head

KINDS = ["allow_once"]
LONG = lambda before, part, count, after: {"repeat": [before, part, count, after]}


def note(method, **params):
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": {"sessionId": "@S@", **params}})


def update(name, **members):
    return note("session/update", update={"sessionUpdate": name, **members})


def ask(id, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {"sessionId": "@S@", **params}})


def turn(target, lines, agent="hostile", **order):
    """Runs a turn, and returns its events."""
    run = str(uuid.uuid4())
    tools = order.pop("tools", None)
    text = json.dumps({"lines": lines, **order}).replace("ROOT", str(target.root))
    more = {"tools": tools} if tools else {}
    request = head(target, "POST", f"/api/ai/agents/{agent}/chat", body=chat(text, run, run, **more), Connection="close")
    stream = body_of(target, request)
    return [json.loads(data) for data in re.findall(r"^data: (.*)$", re.sub(r"\r\n[0-9a-f]+\r\n", "", stream), re.M)]


def ended(events):
    """Describes a run: its end, and the answers that the agent reported."""
    if not events:
        return "no events"
    ends = [event for event in events if event["type"] in ("RUN_FINISHED", "RUN_ERROR")]
    if len(ends) != 1 or events[-1] is not ends[0]:
        return f"{len(ends)} ends, the last event is {events[-1]['type']}"
    end = ends[0].get("code") or ends[0].get("outcome", {}).get("type", "success")
    said = "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
    return " ".join([end, *re.findall(r"[\w-]+=(?:ok|-\d+)", said)])


def rows(target):
    def go(*lines, agent="hostile"):
        return lambda: ended(turn(target, list(lines), agent))

    ignored = "dropped and logged; the turn goes on"
    for name, line in {
        "no JSON": "npm warn deprecated",
        "a list": "[1,2,3]",
        "a batch": "[" + update("plan", entries=[]) + "]",
        "a number": "42",
        "an empty object": "{}",
        "no version of JSON-RPC": '{"method":"session/update"}',
        "JSON-RPC 1.0": '{"jsonrpc":"1.0","method":"session/update","params":{}}',
        "cut off": '{"jsonrpc":"2.0","method":"session/update","params":{"sess',
        "NUL": '{"jsonrpc":"2.0"\0,"method":"x"}',
        "not UTF-8": '{"jsonrpc":"2.0","method":"\udcff"}',
        "escape sequences of a terminal": "\x1b]0;evil\x07\x1b[2J",
        "lone surrogate as a method": '{"jsonrpc":"2.0","method":"\\ud800","params":{}}',
        "lone surrogate as a member": '{"jsonrpc":"2.0","method":"session/update","\\udc00":1,"params":{}}',
        "lone surrogate in a text": '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S@","update":'
        '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\\ud800"}}}}',
        "member twice": '{"jsonrpc":"2.0","method":"x","method":"session/update","params":{},"params":[]}',
        "method is a number": '{"jsonrpc":"2.0","method":5,"params":{}}',
        "parameters are a text": '{"jsonrpc":"2.0","method":"session/update","params":"x"}',
        "no session": '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[]}}}',
        "session is a number": '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7,"update":{}}}',
        "unknown session": update("plan", entries=[]).replace("@S@", "unknown"),
        "unknown notification": note("session/explode"),
        "unknown update": update("weather_update", sky="clear"),
        "update without a kind": note("session/update", update={}),
        "update is a list": note("session/update", update=[]),
        "plan with an invalid entry": update("plan", entries=[{"content": 1}]),
        "number of 400 digits": update("usage_update", used=1, size=2).replace("1,", "9" * 400 + ","),
        "number with a huge exponent": update("usage_update", used=1, size=2).replace("1,", "1e999999999,"),
        "negative usage": update("usage_update", used=-1, size=-2),
        "mode that does not exist": update("current_mode_update", currentModeId="x" * 10_000),
        "commands that are no list": update("available_commands_update", availableCommands={}),
    }.items():
        yield f"line: {name}", ignored, "success", go(line)
    for name, line in {
        "100,000 open arrays": LONG('{"jsonrpc":"2.0","method":"x","params":', "[", 100_000, "}"),
        "100,000 nested objects": LONG('{"jsonrpc":"2.0","method":"x","params":', '{"a":', 100_000, "}"),
        "depth in the arguments of a tool": LONG(
            update("tool_call", toolCallId="d", title="d", rawInput=0).split("0}")[0], "[", 20_000, ""
        ),
        "17 MiB": LONG('{"jsonrpc":"2.0","method":"x","params":{"a":"', "x", 17 << 20, '"}}'),
        "1 MiB of spaces": LONG("", " ", 1 << 20, ""),
        "100,000 members": LONG('{"jsonrpc":"2.0","method":"x","params":{', '"a":1,', 100_000, '"b":2}}'),
    }.items():
        yield f"long line: {name}", "16 MiB, a limited depth", "success", go(line)

    never = "JSON-RPC: a response has its request"
    for name, line in {
        "of an unknown number": '{"jsonrpc":"2.0","id":987654321,"result":{}}',
        "of an unknown name": '{"jsonrpc":"2.0","id":"never","result":{}}',
        "of null": '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}',
        "of a fraction": '{"jsonrpc":"2.0","id":1.5,"result":{}}',
        "of a huge number": '{"jsonrpc":"2.0","id":1e400,"result":{}}',
        "of an object": '{"jsonrpc":"2.0","id":{},"result":{}}',
        "of a negative number": '{"jsonrpc":"2.0","id":-1,"result":{}}',
        "with a name of 1 MB": LONG('{"jsonrpc":"2.0","id":"', "x", 1_000_000, '","result":{}}'),
        "with neither result nor error": '{"jsonrpc":"2.0","id":123456}',
    }.items():
        yield f"response {name}", never, "success", go(line)
    yield "response twice", "the first counts", "success", go(
        '{"jsonrpc":"2.0","id":@P@,"result":{"stopReason":"end_turn"}}',
        '{"jsonrpc":"2.0","id":@P@,"result":{"stopReason":"refusal"}}',
    )
    yield "response with result and error", "JSON-RPC: one of both", "success|ACP_.*", go(
        '{"jsonrpc":"2.0","id":@P@,"result":{"stopReason":"end_turn"},"error":{"code":1,"message":"x"}}'
    )
    for name, result in {"a text": '"x"', "no reason": "{}", "an invalid reason": '{"stopReason":5}', "null": "null"}.items():
        yield f"end of the turn with {name}", "ACP: `stopReason`", "ACP_INVALID_REQUEST", go(
            '{"jsonrpc":"2.0","id":@P@,"result":' + result + "}"
        )
    yield "error with a text of 1 MB", "1 KiB of the reason is passed on", "ACP_.*", go(
        LONG('{"jsonrpc":"2.0","id":@P@,"error":{"code":-32603,"message":"', "x", 1_000_000, '"}}')
    )
    yield "error with a code beyond 64 bits", "the turn ends", "ACP_.*", go(
        '{"jsonrpc":"2.0","id":@P@,"error":{"code":99999999999999999999,"message":"x"}}'
    )

    shown = "passed on as text; the page shows control characters"
    for name, title in {
        "right-to-left override": "rm \u202efdp.exe", "escape sequences": "\x1b[31mred\x1b[0m", "NUL": "a\0b",
        "markup": "<img src=x onerror=alert(1)>",
        "zero width": "a\u200b\u200d\ufeffb", "1 MB": "x" * 1_000_000, "empty": "",
    }.items():
        yield f"title with {name}", shown, "success", go(
            update("tool_call", toolCallId="t", title=title, kind="execute", status="pending")
        )
    yield "tool call with an unknown kind", "unknown values are kept", "success", go(
        update("tool_call", toolCallId="t", title="t", kind="explode", status="exploded")
    )
    yield "update of an unknown call", "it starts the call", "success", go(
        update("tool_call_update", toolCallId="t9", status="completed")
    )
    yield "call id of 1 MB", "passed on", "success", go(update("tool_call", toolCallId="t" * 1_000_000, title="t"))
    yield "the same call twice", "the second is an update", "success", go(*[update("tool_call", toolCallId="t", title="t")] * 2)
    yield "1,000 calls", "passed on", "success", go(*[update("tool_call", toolCallId=f"t{n}", title="t") for n in range(1000)])
    yield "diff of a path outside", "shown, not applied", "success", go(
        update("tool_call", toolCallId="t", title="t", content=[{"type": "diff", "path": "/etc/passwd", "oldText": "", "newText": "x"}])
    )
    yield "terminal that does not exist", "shown without output", "success", go(
        update("tool_call", toolCallId="t", title="t", content=[{"type": "terminal", "terminalId": "terminal-77"}])
    )

    yield from requests(go, ask)
    yield from files(go, ask)
    yield from terminals(go, ask)


def requests(go, ask):
    client = "requests of the client's side only"
    for method in ["initialize", "session/new", "session/prompt", "session/load", "authenticate", "session/explode", "", "x" * 10_000]:
        yield f"request for `{method[:20]}` of the client", client, "success q-\\d+=-32601", go(
            ask(unique(), method, cwd="/", mcpServers=[])
        )
    permission = "session/request_permission"
    option = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
    invalid = "invalid parameters are an error"
    yield "permission without options", "answered as cancelled", "success q-\\d+=ok", go(
        ask(unique(), permission, toolCall={"toolCallId": "t"}, options=[])
    )
    yield "permission without a call", invalid, "success q-\\d+=-32602", go(ask(unique(), permission, options=[option]))
    yield "permission of an unknown session", "answered as cancelled", "success q-\\d+=ok", go(
        ask(unique(), permission, toolCall={"toolCallId": "t"}, options=[option]).replace("@S@", "unknown")
    )
    yield "permission with 10,000 options", "the user's default answer: rejected", "success q-\\d+=ok", go(
        ask(unique(), permission, toolCall={"toolCallId": "t", "title": "t"},
            options=[{**option, "optionId": f"y{n}"} for n in range(10_000)])
    )
    yield "permission with an unknown kind", "no option of this kind is chosen", "success q-\\d+=ok", go(
        ask(unique(), permission, toolCall={"toolCallId": "t"}, options=[{**option, "kind": "allow_everything"}])
    )
    yield "two requests of one id", "each has one answer", "success q-\\d+=ok", go(
        *[ask(id := unique(), permission, toolCall={"toolCallId": "t"}, options=[option])] * 2
    )
    yield "request with null as id", "JSON-RPC: no answer fits", "success", go(
        json.dumps({"jsonrpc": "2.0", "id": None, "method": permission, "params": {"sessionId": "@S@"}})
    )
    yield "request for an elicitation that is invalid", invalid, "success q-\\d+=-32602", go(
        ask(unique(), "elicitation/create", mode="form")
    )


def files(go, ask):
    root = "only files below the root"
    read = lambda path, **more: go(ask(unique(), "fs/read_text_file", path=path, **more))
    write = lambda path, content="x", **more: go(ask(unique(), "fs/write_text_file", path=path, content=content, **more))
    denied = "success q-\\d+=-32\\d+"
    for path in [
        "/etc/passwd", "ROOT/../outside.txt", "ROOT/../../../../../../etc/passwd", "ROOT/./../outside.txt", "notes.txt", "", "ROOT",
        "ROOT/link-to-file", "ROOT/link-to-folder/passwd", "ROOT/notes.txt\0.png", "ROOT/loop", "ROOT/pipe", "/proc/self/environ",
        "/proc/self/root/etc/passwd", "file:///etc/passwd", "~/.ssh/id_rsa", "ROOT/" + "x" * 5000, "ROOT/" + "a/" * 3000 + "b",
        "\\\\evil\\share", "ROOT-sibling/secret.txt", "ROOT/large",
    ]:
        yield f"read `{path[:40]}`", root, denied, read(path)
    for path in ["/etc/cron.d/evil", "ROOT/../outside.txt", "ROOT/link-to-file", "ROOT/link-to-folder/evil", "ROOT/pipe", "ROOT",
                 "ROOT/notes.txt/x"]:
        yield f"write `{path[:40]}`", root, denied, write(path)
    yield "write 9 MiB", "8 MiB", "success q-\\d+=-32\\d+", go({"repeat": [
        ask("q-900001", "fs/write_text_file", path="ROOT/new", content="@").split("@\"")[0], "x", 9 << 20, '"}}'
    ]})
    yield "read from line 0", "as from line 1", "success q-\\d+=ok", read("ROOT/notes.txt", line=0)
    yield "read -1 lines", "no negative number", "success q-\\d+=-32602", read("ROOT/notes.txt", limit=-1)
    yield "read 2^64 lines", "numbers have 32 bits", "success q-\\d+=-32602", read("ROOT/notes.txt", limit=1 << 64)
    # The limit is one of the process, so the reads of other rows have another one.
    yield "200 reads at once", "64 wait, others are refused", "success( q-\\d+=(ok|-32\\d+)){200}", go(
        *[ask(unique(), "fs/read_text_file", path="ROOT/notes.txt") for _ in range(200)], agent="crowded"
    )


def terminals(go, ask):
    run = lambda command, **more: go(ask(unique(), "terminal/create", command=command, **more))
    for name, command in {"empty": "", "NUL": "a\0b", "missing": "/nowhere/program", "folder": "/tmp", "of 100 KB": "x" * 100_000}.items():
        yield f"command: {name}", "an error", "success q-\\d+=-3260[23]", run(command)
    yield "command outside of the root", "only below the root", "success q-\\d+=-32\\d+", run("true", cwd="/etc")
    yield "command in a linked folder", "only below the root", "success q-\\d+=-32\\d+", run("true", cwd="ROOT/link-to-folder")
    yield "command with an invalid variable", "an error", "success q-\\d+=-3260[23]", run(
        "true", env=[{"name": "A=B\0", "value": "x"}]
    )
    yield "command that forks and stays", "ended with the session", "success q-\\d+=ok", run(
        "sh", args=["-c", "sleep 1000 & sleep 1000 & setsid sleep 1000 & wait"]
    )
    yield "command that floods", "1 MiB is kept", "success q-\\d+=ok", run("sh", args=["-c", "yes | head -c 50000000"])
    yield "command that ignores SIGTERM", "killed", "success q-\\d+=ok", run("sh", args=["-c", "trap '' TERM; sleep 1000"])
    yield "20 commands of a session", "16", "success( q-\\d+=(ok|-32\\d+)){20}", go(
        *[ask(unique(), "terminal/create", command="sleep", args=["1000"]) for _ in range(20)]
    )
    for method in ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]:
        yield f"{method} of a foreign terminal", "terminals belong to a session", "success q-\\d+=-32\\d+", go(
            ask(unique(), method, terminalId="terminal-1")
        )
    yield "limit of output below 0", "no negative number", "success q-\\d+=-32602", run("true", outputByteLimit=-1)


def unique():
    """The id of a request that no other row has."""
    unique.count += 1
    return f"q-{unique.count}"


unique.count = 0

#!/usr/bin/env python3
"""An ACP agent that writes the lines of its prompt, which is JSON: `{"lines": [...], "wait": seconds, "servers": true}`.

In a line, `@S@` is the session and `@P@` the id of the prompt. `{"repeat": [before, part, count, after]}` is a long line. For each
request of its own it waits for the response, and says `id=ok` or `id=code`. `servers` lists the MCP servers of the session.
"""
import json
import sys
import threading

sessions, waiting, servers = 0, {}, {}
writing = threading.Lock()


def write(line):
    with writing:
        sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
        sys.stdout.buffer.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def say(session, text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": session, "update": update})


def prompted(id, session, text):
    try:
        order = json.loads(text)
    except ValueError:
        order = {"lines": []}
    if "wait" in order:
        threading.Timer(order.pop("wait"), prompted, (id, session, json.dumps(order))).start()
        return
    if order.get("servers"):
        say(session, json.dumps(servers[session]))
    asked = set()
    for line in order["lines"]:
        if isinstance(line, dict):
            before, part, count, after = line["repeat"]
            line = before + part * count + after
        line = line.replace("@S@", session).replace("@P@", json.dumps(id))
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        if isinstance(request, dict) and "method" in request and isinstance(request.get("id"), str):
            asked.add(request["id"])
            waiting[request["id"]] = (id, session, asked)
        write(line)
    if not asked:
        send(id=id, result={"stopReason": "end_turn"})


def answered(id, message):
    prompt, session, asked = waiting.pop(id)
    say(session, f"{id}={message['error']['code'] if 'error' in message else 'ok'};")
    asked.discard(id)
    if not asked:
        send(id=prompt, result={"stopReason": "end_turn"})


for line in sys.stdin.buffer:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method == "initialize":
        send(id=id, result={"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}})
    elif method == "session/new":
        sessions += 1
        servers[f"s{sessions}"] = params["mcpServers"]
        send(id=id, result={"sessionId": f"s{sessions}"})
    elif method == "session/prompt":
        prompted(id, params["sessionId"], "".join(part.get("text", "") for part in params["prompt"]))
    elif method is None and id in waiting:
        answered(id, message)
    elif method and id is not None:
        send(id=id, error={"code": -32601, "message": "no such method"})

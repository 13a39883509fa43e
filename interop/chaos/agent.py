#!/usr/bin/env python3
"""A scripted ACP agent for `gateway_chaos.mjs`: python3 agent.py RECORDING FOLDER

It continues sessions as the agent of the recording does: with the same capability, and with the same updates in the same
order around the response. Sessions are files in FOLDER, so they survive the process. `log.jsonl` there has a line for each
start, each opened session and each prompt, with the process id.

A prompt names its turn: `[[ID KIND]]`. The text of the answer is derived from the ID.

| kind | turn |
|---|---|
| text | one message in three chunks |
| tool | a message, a tool call, a message |
| ask | a message, a tool call with a permission request, a message with the answer |
| slow | one message in ten chunks, over 100 ms |
| hold | a first chunk; then the turn waits for its cancellation |

While FOLDER has a file `hold-open`, sessions are not opened.
"""
import json
import os
import re
import sys
import threading
import time
import uuid

POLL_SECONDS = 0.005
PACE_SECONDS = 0.01
# Of the recorded replay.
REPLAY_PACE_SECONDS = 0.001
# The first words of the text with which the gateway passes a conversation on.
HEADING = "The conversation so far"

with open(sys.argv[1], encoding="utf-8") as recording:
    RECORDED = json.load(recording)
FOLDER = sys.argv[2]
writing = threading.Lock()
answers = {}
cancelled = {}
# A lock for each session, held while it is opened: a turn begins after the replay.
opening = {}


def write(message):
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def log(event, **members):
    line = json.dumps({"event": event, "pid": os.getpid(), **members}) + "\n"
    # One write, so that lines of several processes do not mix.
    file = os.open(os.path.join(FOLDER, "log.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


class Session:
    """A session with its stored conversation, a line for each entry."""

    def __init__(self, session_id):
        self.id = session_id
        self.path = os.path.join(FOLDER, f"session-{session_id}.jsonl")

    def exists(self):
        return os.path.exists(self.path)

    def store(self, *entry):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def entries(self):
        with open(self.path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def update(self, update, **members):
        write({"method": "session/update", "params": {"sessionId": self.id, "update": update, **members}})

    def text(self, role, text):
        self.update({"sessionUpdate": f"{role}_message_chunk", "content": {"type": "text", "text": text}})

    def send(self, items, request=None):
        """Sends the lines of a recording."""
        for item in json.loads(json.dumps(items).replace("{session}", self.id)):
            if "update" in item:
                self.update(item["update"], **{key: item[key] for key in ("_meta",) if key in item})
            elif "method" in item:
                write(item)
            elif "response" in item:
                write({"id": request, "result": item["response"]})
            else:
                self.replay(item["replay"])

    def replay(self, recorded):
        for kind, *rest in self.entries():
            time.sleep(REPLAY_PACE_SECONDS)
            if kind == "tool":
                call, title = rest
                self.update({"sessionUpdate": "tool_call", "toolCallId": call, "title": title, "kind": "read", "status": "completed", "content": []})
                self.text("user", recorded["toolResult"].replace("{tool}", title))
            elif kind != "new":
                self.text(kind, rest[0])


class Turn:
    def __init__(self, request, session, turn_id, kind):
        self.request = request
        self.session = session
        self.id = turn_id
        self.kind = kind
        self.cancel = cancelled[session.id] = threading.Event()

    def run(self):
        with opening[self.session.id]:
            self.session.send(RECORDED["turn"]["before"])
        is_complete = getattr(self, self.kind)()
        if not is_complete:
            log("stopped", id=self.id)
            return write({"id": self.request, "result": {"stopReason": "cancelled"}})
        self.session.send(RECORDED["turn"]["after"])
        result = json.loads(json.dumps(RECORDED["turn"]["result"]).replace("{session}", self.session.id))
        write({"id": self.request, "result": result})
        self.session.send(RECORDED["turn"]["late"])
        return None

    def say(self, *chunks, pace=0):
        for chunk in chunks:
            if self.cancel.wait(pace) if pace else self.cancel.is_set():
                return False
            self.session.text("agent", chunk)
        self.session.store("agent", "".join(chunks))
        return True

    def text(self):
        return self.say("Answer", " to ", f"{self.id}.")

    def slow(self):
        return self.say(*(f"{self.id}-{number} " for number in range(9)), f"{self.id}-9.", pace=PACE_SECONDS)

    def hold(self):
        self.session.text("agent", f"Began {self.id}")
        self.cancel.wait()
        return False

    def call(self, status, **members):
        announced = {"sessionUpdate": "tool_call", "title": "ReadFile", "kind": "read", "content": []}
        changed = {"sessionUpdate": "tool_call_update"}
        is_new = status == "pending"
        self.session.update({**(announced if is_new else changed), "toolCallId": f"call-{self.id}", "status": status, **members})

    def tool(self):
        if not self.say(f"Before {self.id}."):
            return False
        self.call("pending", rawInput={"path": f"{self.id}.txt"})
        self.call("completed", content=[{"type": "content", "content": {"type": "text", "text": f"File {self.id}"}}])
        self.session.store("tool", f"call-{self.id}", "ReadFile")
        return self.say(f"After {self.id}.")

    def ask(self):
        if not self.say(f"Asking {self.id}."):
            return False
        self.call("pending", rawInput={"path": f"{self.id}.txt"})
        options = [{"optionId": kind.replace("_", "-"), "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
        answer = ask(self.cancel, "session/request_permission", {"sessionId": self.session.id, "toolCall": {"toolCallId": f"call-{self.id}"}, "options": options})
        outcome = (answer or {}).get("outcome", {})
        chosen = outcome.get("optionId", "no answer")
        if outcome.get("outcome") != "selected":
            return False
        self.call("completed" if chosen == "allow-once" else "failed")
        self.session.store("tool", f"call-{self.id}", "ReadFile")
        return self.say(f"Answered {self.id}: {chosen}.")


def ask(cancel, method, params):
    """Sends a request, and returns its result, or `None` after a cancellation."""
    request = str(uuid.uuid4())
    answered = threading.Event()
    answers[request] = [answered, None]
    write({"id": request, "method": method, "params": params})
    while not answered.wait(POLL_SECONDS):
        if cancel.is_set():
            return None
    return answers.pop(request)[1]


def open_session(request, method, params):
    recorded = RECORDED["continued"]
    if method != "session/new" and (recorded is None or recorded["method"] != method):
        return write({"id": request, "error": {"code": -32601, "message": "Method not found"}})
    session = Session(params.get("sessionId") or str(uuid.uuid4()))
    log("open", method=method, session=session.id)
    with opening.setdefault(session.id, threading.Lock()):
        answer_open(request, method, session)


def answer_open(request, method, session):
    recorded = RECORDED["continued"]
    while os.path.exists(os.path.join(FOLDER, "hold-open")):
        time.sleep(POLL_SECONDS)
    if method == "session/new":
        session.store("new")
        return write({"id": request, "result": {"sessionId": session.id}})
    if not session.exists():
        return write({"id": request, "error": {"code": -32002, "message": "Resource not found"}})
    return session.send(recorded["sent"], request)


def prompt(request, params):
    session = Session(params["sessionId"])
    texts = [block["text"] for block in params["prompt"] if block.get("type") == "text"]
    passed_on = [text for text in texts if text.startswith(HEADING)]
    texts = [text for text in texts if not text.startswith(HEADING)]
    found = re.findall(r"\[\[(\S+) (\w+)\]\]", "\n".join(texts))
    log("prompt", session=session.id, ids=[turn_id for turn_id, _ in found], passedOn="\n".join(passed_on) or None)
    for text in [*passed_on, *texts]:
        session.store("user", text)
    turn = Turn(request, session, *found[-1])
    threading.Thread(target=turn.run, daemon=True).start()


log("started", gateway=os.environ.get("CHAOS_GATEWAY"))
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    params = message.get("params") or {}
    if method is None:
        waiting = answers.get(message["id"])
        if waiting is not None:
            waiting[1] = message.get("result")
            waiting[0].set()
    elif method == "initialize":
        result = {"protocolVersion": 1, "agentCapabilities": RECORDED["capabilities"], "authMethods": []}
        write({"id": message["id"], "result": result})
    elif method in ("session/new", "session/load", "session/resume"):
        threading.Thread(target=open_session, args=(message["id"], method, params), daemon=True).start()
    elif method == "session/prompt":
        prompt(message["id"], params)
    elif method == "session/cancel":
        if params["sessionId"] in cancelled:
            cancelled[params["sessionId"]].set()
    elif method == "session/close":
        log("close", session=params["sessionId"])
        write({"id": message["id"], "result": {}})
    elif "id" in message:
        write({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})

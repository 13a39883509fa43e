#!/usr/bin/env python3
"""A scripted model on loopback with the responses of `scenarios.json`, for agents that require a model.

It supports the wire formats of two agents: Google's `streamGenerateContent` (gemini-cli) and
OpenAI's Responses (codex-acp). The last user text with `scenario:NAME` selects the scenario. The number of tool
calls since then selects the round, so the server has no state.

Prints `listening on http://127.0.0.1:PORT`, and runs until it is terminated.
"""
import json
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCENARIOS = json.loads((Path(__file__).parent.parent / "scenarios.json").read_text())
MARK = re.compile(r"scenario:([a-z]+)")
CHUNK = 16


class Conversation:
    """The scenario of a request, and the number of its tool calls so far."""

    def __init__(self):
        self.rounds, self.calls = [{"text": "No scenario was named."}], 0

    def user(self, text):
        if names := MARK.findall(text or ""):
            self.rounds, self.calls = SCENARIOS[names[-1]], 0

    def next_round(self):
        return self.rounds[min(self.calls, len(self.rounds) - 1)]


def pieces(step):
    """Yields the text of a round in pieces, with the pause of the round."""
    text = step.get("text", "")
    for _ in range(step.get("times", 1)):
        for start in range(0, len(text), CHUNK):
            time.sleep(step.get("pauseMs", 0) / 1000)
            yield text[start : start + CHUNK]


def gemini_conversation(body):
    talk = Conversation()
    for message in body.get("contents", []):
        for part in message.get("parts", []):
            if message.get("role") == "model":
                talk.calls += "functionCall" in part
            else:
                talk.user(part.get("text"))
    return talk


def gemini_call(tool):
    match tool:
        case {"read": path}:
            return "read_file", {"file_path": path}
        case {"edit": path, "old": old, "new": new}:
            return "replace", {"file_path": path, "instruction": "Edit the file.", "old_string": old, "new_string": new}
        case {"shell": command}:
            return "run_shell_command", {"command": command, "description": "Run a command."}


def gemini_chunks(step, call_id):
    def chunk(part, finish=None):
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}}
        if finish:
            candidate["finishReason"] = finish
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}

    if thought := step.get("thought"):
        yield chunk({"text": thought, "thought": True})
    for piece in pieces(step):
        yield chunk({"text": piece})
    if tool := step.get("tool"):
        name, arguments = gemini_call(tool)
        yield chunk({"functionCall": {"id": call_id, "name": name, "args": arguments}}, "STOP")
    else:
        yield chunk({"text": ""}, "STOP")


def responses_conversation(body):
    talk = Conversation()
    for item in body.get("input", []):
        if item.get("type") in ("function_call", "custom_tool_call"):
            talk.calls += 1
        elif item.get("role") == "user":
            for part in item.get("content", []):
                talk.user(part.get("text"))
    return talk


def responses_call(tool, call_id):
    call = {"id": f"fc_{call_id}", "call_id": call_id, "status": "completed"}
    match tool:
        case {"edit": path, "old": old, "new": new}:
            patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
            return {**call, "type": "custom_tool_call", "name": "apply_patch", "input": patch}
        case {"read": path}:
            command = f"cat {path}"
        case {"shell": command}:
            pass
    return {**call, "type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}


def responses_events(step, call_id):
    response = {"id": f"resp_{call_id}", "object": "response", "created_at": 1, "model": "scripted", "output": []}
    yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
    if thought := step.get("thought"):
        item = {"type": "reasoning", "id": f"rs_{call_id}", "summary": []}
        where = {"item_id": item["id"], "output_index": len(response["output"]), "summary_index": 0}
        part = {"type": "summary_text", "text": thought}
        yield {"type": "response.output_item.added", "output_index": where["output_index"], "item": item}
        yield {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}}
        yield {"type": "response.reasoning_summary_text.delta", **where, "delta": thought}
        item = {**item, "summary": [part]}
        yield {"type": "response.output_item.done", "output_index": where["output_index"], "item": item}
        response["output"].append(item)
    item = {"type": "message", "id": f"msg_{call_id}", "role": "assistant", "content": []}
    where = {"item_id": item["id"], "output_index": len(response["output"]), "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": where["output_index"], "item": item}
    text = ""
    for piece in pieces(step):
        text += piece
        yield {"type": "response.output_text.delta", **where, "delta": piece}
    item = {**item, "content": [{"type": "output_text", "text": text, "annotations": []}]}
    yield {"type": "response.output_item.done", "output_index": where["output_index"], "item": item}
    response["output"].append(item)
    if tool := step.get("tool"):
        item = responses_call(tool, call_id)
        yield {"type": "response.output_item.added", "output_index": len(response["output"]), "item": item}
        yield {"type": "response.output_item.done", "output_index": len(response["output"]), "item": item}
        response["output"].append(item)
    usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
    yield {"type": "response.completed", "response": {**response, "status": "completed", "usage": usage}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.split("?")[0]
        call_id = f"call_{time.monotonic_ns()}"
        try:
            if path.endswith(":generateContent"):
                # gemini-cli requests the selection of a model from a small model.
                choice = {"text": json.dumps({"complexity_reasoning": "scripted", "complexity_score": 1})}
                self.answer({"candidates": [{"content": {"role": "model", "parts": [choice]}, "finishReason": "STOP"}]})
            elif path.endswith(":streamGenerateContent"):
                self.play(gemini_conversation(body).next_round(), gemini_chunks, call_id)
            elif path.endswith("/responses"):
                self.play(responses_conversation(body).next_round(), responses_events, call_id)
            else:
                self.answer({"error": {"message": f"no such endpoint: {path}"}}, 404)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # The agent cancelled.

    def do_GET(self):
        self.answer({"object": "list", "data": [], "models": []})

    def answer(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def play(self, step, events, call_id):
        if status := step.get("status"):
            error = {"code": status, "message": step["message"], "status": "INVALID_ARGUMENT"}
            return self.answer({"error": error}, status)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events(step, call_id):
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)

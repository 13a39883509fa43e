#!/usr/bin/env python3
"""A scripted model on loopback with the responses of `scenarios.json`, for agents that require a model.

It supports the wire formats of Google's `streamGenerateContent`, OpenAI's Responses and chat completions, and Anthropic's
messages (`formats.py`). The last user text with `scenario:NAME`, or `scenario:NAME in FOLDER` for agents whose tools need absolute
paths, selects the scenario. The number of tool calls since then selects the round, so the server has no state. The tools and
their arguments are those that the agent declares (`tools.py`).

Prints `listening on http://127.0.0.1:PORT`, and runs until it is terminated.
"""
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from formats import Anthropic, Chat, Google, Responses
from tools import call_of

SCENARIOS = json.loads((Path(__file__).parent.parent / "scenarios.json").read_text())
FORMATS = {
    ":streamGenerateContent": Google,
    "/responses": Responses,
    "/chat/completions": Chat,
    "/messages": Anthropic,
}
# gemini-cli requests the selection of a model from a small model.
CHOICE = {"text": json.dumps({"complexity_reasoning": "scripted", "complexity_score": 1})}
# Requests without tools are for titles and summaries.
SUMMARY = {"text": "A scripted conversation"}


def round_of(talk):
    """Returns the step of a conversation, with the text for an image if the prompt has one."""
    if not talk.tools:
        return SUMMARY
    if talk.scenario is None:
        return {"text": "No scenario was named."}
    rounds = SCENARIOS[talk.scenario]
    step = rounds[min(talk.calls, len(rounds) - 1)]
    return {**step, "text": step["image"]} if talk.images and "image" in step else step


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.split("?")[0]
        try:
            if path.endswith(":generateContent"):
                self.answer({"candidates": [{"content": {"role": "model", "parts": [CHOICE]}, "finishReason": "STOP"}]})
            elif path.endswith("/count_tokens"):
                self.answer({"input_tokens": 11})
            elif found := [form for end, form in FORMATS.items() if path.endswith(end)]:
                self.play(found[0], body)
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

    def play(self, form, body):
        talk = form.conversation(body)
        step = round_of(talk)
        if status := step.get("status"):
            error = {"code": status, "message": step["message"], "status": "INVALID_ARGUMENT"}
            return self.answer({"error": error}, status)
        call_id = f"call_{time.monotonic_ns()}"
        call = call_of(step["tool"], talk.tools, talk.workspace) if "tool" in step else None
        is_stream = form in (Google, Responses) or body.get("stream")
        if not is_stream:
            return self.answer(form.whole(step, call, call_id))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, event in form.events(step, call, call_id):
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{f'event: {name}' + chr(10) if name else ''}data: {data}\n\n".encode())
            self.wfile.flush()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)

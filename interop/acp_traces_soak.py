#!/usr/bin/env python3
"""Sends many messages through acp-traces while its collector is killed and restarted.

    cargo build --release -p traces
    python3 interop/acp_traces_soak.py target/release/acp-traces 1000000 60

Arguments: the proxy, the number of messages in both directions, and the duration in seconds. Requires only Python. The
output has to equal the bytes of the agent. Each span has to be received by the collector or reported as lost by the proxy.
In the second half, the memory of the proxy may exceed its value in the middle by at most 10 % and 4 MiB, which is less than
five bytes for each of a million messages.
"""
import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# A turn has a prompt, CHUNKS updates and a response. TURNS turns are active at a time.
CHUNKS, TURNS = 8, 50
UPDATE = (
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word"}}}}\n'
)
PROMPT = '{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}\n'
ANSWER = '{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}\n'


def agent():
    for line in sys.stdin:
        sys.stdout.write(UPDATE * CHUNKS + ANSWER % json.loads(line)["id"])
        sys.stdout.flush()


def collector(port, counts):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            scopes = [scope for resource in body["resourceSpans"] for scope in resource["scopeSpans"]]
            with open(counts, "a", encoding="utf-8") as file:
                file.write(f"{sum(len(scope['spans']) for scope in scopes)}\n")
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def start_collector(port, counts):
    """Starts a collector, and returns it with its port."""
    command = [sys.executable, __file__, "collector", str(port), counts]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    return process, int(process.stdout.readline())


def resident_kib(pid):
    return int(re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


def soak(proxy, messages, seconds):
    turns = max(messages // (CHUNKS + 2) // TURNS, 30) * TURNS
    counts = tempfile.NamedTemporaryFile("r", prefix="soak-")
    receiver, port = start_collector(0, counts.name)
    command = [proxy, "--protocol", "http/json", "--otlp-endpoint", f"http://127.0.0.1:{port}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environment |= {"OTEL_BSP_SCHEDULE_DELAY": "200", "OTEL_BSP_MAX_QUEUE_SIZE": "8192"}
    traced = subprocess.Popen(
        [*command, "--", sys.executable, __file__, "agent"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )
    # Stderr is read concurrently, because a long log would block the proxy.
    told = []
    listener = threading.Thread(target=lambda: told.append(traced.stderr.read().decode()))
    listener.start()
    passed, expected, memory, begun = hashlib.sha256(), hashlib.sha256(), [], time.monotonic()
    outage = {turns // 3 // TURNS: "kill", turns * 2 // 3 // TURNS: "start"}
    for window in range(turns // TURNS):
        if outage.get(window) == "kill":
            receiver.kill()
            receiver.wait()
        if outage.get(window) == "start":
            receiver, port = start_collector(port, counts.name)
        ids = range(window * TURNS, (window + 1) * TURNS)
        traced.stdin.write("".join(PROMPT % id for id in ids).encode())
        traced.stdin.flush()
        answers = "".join(UPDATE * CHUNKS + ANSWER % id for id in ids).encode()
        expected.update(answers)
        passed.update(traced.stdout.read(len(answers)))
        memory.append(resident_kib(traced.pid))
        time.sleep(max(0, begun + seconds * ids.stop / turns - time.monotonic()))
    took = time.monotonic() - begun
    traced.stdin.close()
    rest = traced.stdout.read()
    status = traced.wait()
    listener.join()
    receiver.kill()
    receiver.wait()
    received = sum(map(int, counts.read().split()))
    lost = [re.search(r"acp-traces: (\d+) (?:of \d+ )?spans", line) for line in told[0].splitlines()]
    lost = sum(int(match[1]) for match in lost if match)
    middle, most = memory[len(memory) // 2], max(memory[len(memory) // 2:])
    print(f"{turns * (CHUNKS + 2)} messages in {took:.1f} s; {turns} spans: {received} received, {lost} reported as lost")
    print(f"memory: {memory[0]} KiB at first, {middle} KiB at the middle, at most {most} KiB after that")
    print(told[0], end="")
    assert status == 0, status
    assert passed.digest() == expected.digest() and rest == b"", "the output differs from the bytes of the agent"
    assert lost > 0, "no span was lost during the outage"
    assert received + lost == turns, f"{received} + {lost} is not {turns}"
    assert most <= middle * 1.1 + 4096, "memory grows"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["agent"]:
            agent()
        case ["collector", port, counts]:
            collector(port, counts)
        case [proxy, messages, seconds]:
            soak(proxy, int(messages), float(seconds))
        case _:
            sys.exit(__doc__)

#!/usr/bin/env python3
"""acp-bridge between versions, with acp-traces on both sides, for each word of the demo agent: acp-lint finds nothing in both
recordings that is of the bridge, and each turn has one span on each side that reports it."""
import asyncio
import json
import os
import re
import subprocess

from harness import BIN, Place, check, finish, lines

TURN_SECONDS = 30
INFO = {"name": "interop", "version": "1"}
STATE = "spanwire/state"
# Words with a turn of the agent's own after that of the prompt.
OWN = {"later"}
# `SpanKind` in OTLP.
CLIENT = 3
# The agent exits.
LAST = "crash"


class Editor:
    """An editor of one version that grants permissions and declines forms."""

    def __init__(self, version, place):
        self.version, self.place, self.ids = version, place, 0
        traced = lambda side: [
            str(BIN / "acp-traces"), "--record", str(place.root / f"{side}.jsonl"), "--file", str(place.root / f"{side}-spans.jsonl"), "--"
        ]  # fmt: skip
        versions = ["--editor", str(version), "--agent", str(3 - version)]
        bridge = [str(BIN / "acp-bridge"), *versions, "--verbose", "--"]
        self.command = [*traced("near"), *bridge, *traced("far"), str(BIN / "demo-agent")]

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=open(self.place.root / "stderr", "wb"),
            env={**self.place.environment, "DEMO_AGENT_PAUSE_MS": "0"},
            limit=1 << 24,
        )

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, method, params):
        self.ids += 1
        self.send({"id": self.ids, "method": method, "params": params})
        return self.ids

    async def read(self, is_last):
        """Reads up to a line that `is_last`, and returns the lines; `None` after the end of the output."""
        read = []
        while True:
            async with asyncio.timeout(TURN_SECONDS):
                line = await self.process.stdout.readline()
            if not line:
                return None
            message = json.loads(line)
            read.append(message)
            match message.get("method"):
                case "session/request_permission":
                    option = message["params"]["options"][0]["optionId"]
                    self.send({"id": message["id"], "result": {"outcome": {"outcome": "selected", "optionId": option}}})
                case "elicitation/create":
                    self.send({"id": message["id"], "result": {"action": "decline"}})
            if is_last(message):
                return read

    async def call(self, method, params):
        id = self.request(method, params)
        return (await self.read(lambda message: message.get("id") == id and "method" not in message))[-1]

    async def open(self):
        capabilities = {"elicitation": {"form": {}, "url": {}}}
        offer = {1: {"clientInfo": INFO, "clientCapabilities": capabilities}, 2: {"info": INFO, "capabilities": capabilities}}
        await self.call("initialize", {"protocolVersion": self.version, **offer[self.version]})
        opened = await self.call("session/new", {"cwd": str(self.place.workspace), "mcpServers": []})
        self.session = opened["result"]["sessionId"]

    def is_idle(self, message):
        update = message.get("params", {}).get("update", {})
        state = update if self.version == 2 else ((update.get("_meta") or {}).get(STATE) or {})
        return state.get("state") == "idle"

    async def turn(self, word):
        """Prompts, and returns the lines of the turn, and of the agent's own turn after it."""
        id = self.request("session/prompt", {"sessionId": self.session, "prompt": [{"type": "text", "text": word}]})
        is_answer = lambda message: message.get("id") == id and "method" not in message
        is_end = is_answer if self.version == 1 else self.is_idle
        read = []
        if word == "slow":
            is_text = lambda message: message.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"
            read = await self.read(is_text)
            self.send({"method": "session/cancel", "params": {"sessionId": self.session}})
        read += await self.read(is_end) or []
        if word in OWN:
            read += await self.read(self.is_idle)
        return read


def findings(path):
    command = [str(BIN / "acp-lint"), "--format", "json", "--fail-on", "never", str(path)]
    found = lines(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    # The agent exits during the last turn.
    is_of_exit = lambda finding: finding["rule"] == "unanswered-request" and finding["method"] == "session/prompt"
    assert sum(map(is_of_exit, found)) <= 1, found
    return [finding for finding in found if finding["severity"] != "info" and not is_of_exit(finding)]


def turns(path):
    """Returns the number of spans of turns in a file, without those of subagents."""
    spans = [
        span
        for export in lines(path.read_text())
        for resource in export.get("resourceSpans", [])
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    return sum(span["name"].startswith("invoke_agent") and span["kind"] == CLIENT for span in spans)


async def session(version):
    place = Place()
    try:
        editor = Editor(version, place)
        await editor.start()
        await editor.open()
        said = "".join(message["params"]["update"]["content"]["text"] for message in await editor.turn("help") if is_text(message))
        words = re.findall(r"^- `(\w+)`", said, re.MULTILINE)
        assert len(words) > 25 and LAST in words, said
        words.remove(LAST)
        words.remove("help")
        for word in [*words, LAST]:
            read = await editor.turn(word)
            assert word == LAST or read, f"{word} has no turn"
        status = await asyncio.wait_for(editor.process.wait(), TURN_SECONDS)
        assert status == 3, status
        near, far = (findings(place.root / f"{side}.jsonl") for side in ("near", "far"))
        # The linter reports the members of version 1 in the offer to an agent that may fall back.
        is_offer = lambda finding: finding["rule"] == "unknown-member" and "InitializeRequest" in finding["message"]
        own = {(finding["rule"], finding["message"]) for finding in far}
        of_bridge = [finding for finding in near if (finding["rule"], finding["message"]) not in own]
        assert not of_bridge, f"findings on the side of the editor: {of_bridge}"
        sent = [finding for finding in far if finding["direction"] == "sent" and not is_offer(finding)]
        assert not sent, f"findings of lines for the agent: {sent}"
        prompts = len(words) + 2
        expected = prompts + len(OWN)
        # An agent of version 1 does not report its own turn.
        spans = [turns(place.root / f"{side}-spans.jsonl") for side in ("near", "far")]
        assert spans == [expected, expected if version == 1 else prompts], (spans, expected)
    except Exception:
        print((place.root / "stderr").read_text(errors="replace")[-4000:])
        raise
    finally:
        left = place.leave()
    assert not left, f"left behind: {left}"


def is_text(message):
    return message.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"


async def main():
    for version in (1, 2):
        title = f"acp-bridge × each word of demo-agent in version {3 - version} × editor of version {version}, traced and linted"
        await check(title, session(version))
    finish()


asyncio.run(main())

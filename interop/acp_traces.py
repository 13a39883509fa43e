#!/usr/bin/env python3
"""acp-traces between the official Python client and the agents: bytes, spans, exit status, unavailable collectors."""
import asyncio
import json
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass

import acp
from acp.schema import ClientCapabilities, FileSystemCapabilities, RequestPermissionResponse, ReadTextFileResponse

from harness import AGENTS, BIN, INTEROP, SCENARIOS, Place, check, finish, lines, prompt, received, strings

TURN_SECONDS = 60
EXIT_SECONDS = 10
PROXY = str(BIN / "acp-traces")
COLLECTOR = ["--otlp-endpoint", os.environ["INTEROP_OTLP_GRPC"]]


class Editor:
    """A client that grants permissions according to `allow`, and serves the files of the workspace."""

    def __init__(self, allow=True):
        self.allow, self.updated = allow, asyncio.Event()

    async def request_permission(self, session_id, tool_call, options, **_):
        kind = "allow_once" if self.allow else "reject_once"
        [option] = [option for option in options if option.kind == kind]
        return RequestPermissionResponse(outcome={"outcome": "selected", "optionId": option.option_id})

    async def session_update(self, session_id, update, **_):
        if update.session_update == "agent_message_chunk":
            self.updated.set()

    async def read_text_file(self, session_id, path, **_):
        with open(path, encoding="utf-8") as file:
            return ReadTextFileResponse(content=file.read())

    async def write_text_file(self, session_id, path, content, **_):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)


class Session:
    """An agent behind acp-traces, driven by the official client, with a tap on each side of the proxy."""

    def __init__(self, agent, options=COLLECTOR, asks=()):
        self.agent, self.options, self.place, self.editor = agent, options, Place(), Editor()
        self.asks, self.cancelled = asks, False

    async def __aenter__(self):
        place = self.place
        far = place.tap("far", [str(INTEROP / "agents" / "start"), self.agent["name"]])
        self.process = await asyncio.create_subprocess_exec(
            *place.tap("near", [PROXY, *self.options, "--service-name", place.run, "--", *far]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=open(place.root / "stderr", "wb"),
            env=place.environment,
            cwd=place.workspace,
            limit=1 << 26,
        )
        self.agent_side = acp.connect_to_agent(self.editor, self.process.stdin, self.process.stdout)
        async with asyncio.timeout(TURN_SECONDS):
            files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
            await self.agent_side.initialize(protocol_version=1, client_capabilities=ClientCapabilities(fs=files))
            if method := self.agent.get("authenticate"):
                await self.agent_side.authenticate(method_id=method)
            self.id = (await self.agent_side.new_session(cwd=str(place.workspace), mcp_servers=[])).session_id
        return self

    async def turn(self, scenario):
        """Sends a prompt, and returns the stop reason or the error of the agent."""
        async with asyncio.timeout(TURN_SECONDS):
            block = acp.text_block(prompt(self.agent, scenario))
            try:
                return (await self.agent_side.prompt(session_id=self.id, prompt=[block])).stop_reason
            except acp.RequestError as error:
                return error

    async def cancelled_turn(self, scenario):
        self.cancelled = True
        self.editor.updated.clear()
        turn = asyncio.create_task(self.turn(scenario))
        async with asyncio.timeout(TURN_SECONDS):
            await self.editor.updated.wait()
            await self.agent_side.cancel(session_id=self.id)
        return await turn

    async def end(self):
        """Closes the connection. The proxy must end the agent, even if the agent ignores the end of its input."""
        await self.agent_side.close()
        self.process.stdin.close()
        return await asyncio.wait_for(self.process.wait(), EXIT_SECONDS)

    async def __aexit__(self, *error):
        if error[0]:
            print((self.place.root / "stderr").read_text(errors="replace")[-4000:], file=sys.stderr)
        left = self.place.leave()
        assert error[0] or not left, f"left behind: {left}"


@dataclass
class Wire:
    """The content of a session in the recorded bytes of the agent."""

    agent: str | None
    answers: list
    calls: dict
    asked: list
    files: list


def read_wire(place):
    """Reads the recorded bytes. `calls` maps each tool call to the index of its prompt."""
    sent, told = lines(place.tapped("far", "in")), lines(place.tapped("far", "out"))
    methods = {line["id"]: line["method"] for line in sent if "id" in line and "method" in line}
    wire = Wire(None, [], {}, [], [])
    for line in told:
        method, params = line.get("method"), line.get("params", {})
        if method is None and methods.get(line["id"]) == "initialize":
            wire.agent = line["result"].get("agentInfo", {}).get("name")
        elif method is None and methods.get(line["id"]) == "session/prompt":
            wire.answers.append(line)
        elif method == "session/update" and "toolCallId" in params["update"]:
            wire.calls.setdefault(params["update"]["toolCallId"], len(wire.answers))
        elif method == "session/request_permission":
            wire.calls.setdefault(params["toolCall"]["toolCallId"], len(wire.answers))
            wire.asked.append(params["toolCall"]["toolCallId"])
        elif method and method.startswith("fs/"):
            wire.files.append(method)
    return wire


def said(place):
    """Yields words, paths, arguments and results of the recorded bytes that are long enough to be distinctive."""
    names = ("sessionId", "sessionUpdate", "toolCallId", "call_id", "modeId", "kind", "name")
    messages = [line["params"] for d in ("in", "out") for line in lines(place.tapped("far", d)) if "params" in line]
    for params in messages:
        content = [params.get(member) for member in ("prompt", "update", "toolCall")]
        yield from (word for word in strings(content, names) if len(word) > 12)


def expect_spans(session, spans):
    """Checks that the receiver has exactly the spans that follow from the recorded bytes."""
    wire = read_wire(session.place)
    by_id = {span.id: span for span in spans}
    for span in spans:
        assert span.start <= span.end, span
        if span.parent:
            parent = by_id[span.parent]
            assert parent.trace == span.trace and parent.start <= span.start and span.end <= parent.end, (span, parent)
        if span.name.startswith(("invoke_agent", "execute_tool")):
            assert span.attributes["gen_ai.operation.name"] == span.name.split(" ")[0], span
            assert span.attributes["gen_ai.conversation.id"] == session.id, span
            assert span.attributes.get("gen_ai.agent.name") == wire.agent, span
    for method in ("initialize", "session/new"):
        [span] = named(spans, method)
        assert (span.kind, span.status, span.parent) == ("CLIENT", "UNSET", ""), span
        assert span.attributes["acp.method.name"] == method, span
        assert span.attributes["network.transport"] == "pipe", span
    turns = expect_turns(wire, spans, session.cancelled)
    expect_tools(wire, spans, turns, session.asks)
    expect_served(wire, spans, turns)


def named(spans, word):
    """Returns the spans with names that start with this word, in order of time."""
    return sorted((span for span in spans if span.name.split(" ")[0] == word), key=lambda span: span.start)


def expect_turns(wire, spans, cancelled):
    turns = named(spans, "invoke_agent")
    for span, answer in zip(turns, wire.answers, strict=True):
        assert span.name == (f"invoke_agent {wire.agent}" if wire.agent else "invoke_agent"), span
        assert (span.kind, span.parent) == ("CLIENT", ""), span
        assert span.attributes["gen_ai.provider.name"], span
        if "error" in answer:
            assert (span.status, span.attributes["error.type"]) == ("ERROR", str(answer["error"]["code"])), span
        else:
            reason = answer["result"]["stopReason"]
            finish = {"end_turn": "stop", "cancelled": "cancelled"}[reason]
            assert span.attributes["acp.stop_reason"] == reason, span
            assert span.attributes["gen_ai.response.finish_reasons"] == [finish], span
            assert span.status == "UNSET", span
        assert ("acp.session.cancel" in span.events) == (cancelled and span is turns[-1]), span
    return turns


def expect_tools(wire, spans, turns, answers):
    """Checks the spans of tool calls. `answers` has the kinds of the options that the editor selected, in order."""
    tools = {span.attributes["gen_ai.tool.call.id"]: span for span in named(spans, "execute_tool")}
    assert tools.keys() == wire.calls.keys() and len(tools) == len(named(spans, "execute_tool")), (wire.calls, tools)
    for call, turn in wire.calls.items():
        span = tools[call]
        assert span.name == f"execute_tool {span.attributes['gen_ai.tool.name']}", span
        assert (span.kind, span.parent) == ("INTERNAL", turns[turn].id), span
    permissions = named(spans, "session/request_permission")
    for span, call, kind in zip(permissions, wire.asked, answers, strict=True):
        assert (span.kind, span.parent) == ("SERVER", tools[call].id), span
        assert span.attributes["acp.permission.outcome"] == "selected", span
        assert span.attributes["acp.permission.option.kind"] == kind, span


def expect_served(wire, spans, turns):
    """Checks that requests of the agent to the client are below the turn, or below a tool call."""
    served = [span for span in spans if span.name.startswith("fs/")]
    assert sorted(span.name for span in served) == sorted(wire.files), (served, wire.files)
    traces = {turn.trace for turn in turns}
    for span in served:
        assert span.kind == "SERVER" and span.parent and span.trace in traces, span


def expect_same_bytes(session):
    for direction in ("in", "out"):
        near, far = session.place.tapped("near", direction), session.place.tapped("far", direction)
        assert near and near == far, f"{direction}: {len(near)} bytes at the editor, {len(far)} at the agent"


async def official_example():
    """The example agent of the Python SDK: an echo without tools."""
    async with Session({"name": "sdk-example"}) as session:
        assert await session.turn("text") == "end_turn"
        assert await session.end() in (0, 128 + signal.SIGTERM)
        expect_same_bytes(session)
        spans, _ = received(session.place.run)
        expect_spans(session, spans)


async def whole_session(agent):
    """Runs each kind of turn, and checks the bytes of both sides and the spans."""
    async with Session(agent, asks=("allow_once", "reject_once")) as session:
        assert await session.turn("text") == "end_turn"
        assert await session.turn("read") == "end_turn"
        assert await session.turn("edit") == "end_turn"
        session.editor.allow = False
        assert await session.turn("shell") in ("end_turn", "cancelled")
        assert isinstance(await session.turn("error"), acp.RequestError)
        assert await session.cancelled_turn("slow") == "cancelled"
        assert await session.end() in (0, 128 + signal.SIGTERM)
        expect_same_bytes(session)
        spans, exported = received(session.place.run)
        expect_spans(session, spans)
        for word in said(session.place):
            assert not any(word in text for text in exported), f"content was exported: {word}"


async def content_on_request():
    """With --record-content the spans contain the messages of the turn. Without it they contain none (`whole_session`)."""
    agent = AGENTS[0]
    async with Session(agent, [*COLLECTOR, "--record-content"]) as session:
        assert await session.turn("text") == "end_turn"
        assert await session.end() == 0
        spans, _ = received(session.place.run)
        [turn] = [span for span in spans if span.name.startswith("invoke_agent")]
        [step] = SCENARIOS["text"]
        asked = [{"type": "text", "content": prompt(agent, "text")}]
        assert json.loads(turn.attributes["gen_ai.input.messages"]) == [{"role": "user", "parts": asked}], turn
        words = [{"type": "reasoning", "content": step["thought"]}, {"type": "text", "content": step["text"]}]
        answer = {"role": "assistant", "parts": words, "finish_reason": "stop"}
        assert json.loads(turn.attributes["gen_ai.output.messages"]) == [answer], turn


async def dead_collector(endpoint):
    """An unavailable or silent collector does not affect a turn, and delays the end by a few seconds at most."""
    async with Session(AGENTS[0], ["--otlp-endpoint", endpoint]) as session:
        start = time.monotonic()
        for scenario in ("text", "read", "edit"):
            assert await session.turn(scenario) == "end_turn"
        assert time.monotonic() - start < 5, "the turns are slow"
        start = time.monotonic()
        assert await session.end() == 0
        assert time.monotonic() - start < 5, "the end is slow"
        expect_same_bytes(session)


async def exit_status(command, expected):
    """Checks that the proxy exits with the status of its command. Returns the errors of the proxy."""
    process = await asyncio.create_subprocess_exec(
        PROXY, *COLLECTOR, "--", *command, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        _, stderr = await asyncio.wait_for(process.communicate(), EXIT_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode in expected, (process.returncode, stderr)
    assert "exit" not in " ".join(command) or not stderr, stderr
    return stderr.decode()


async def command_not_found():
    stderr = await exit_status(["no-such-agent"], [127])
    assert "no-such-agent" in stderr, stderr


async def terminated():
    """After SIGTERM during a turn, the agent ends, and the spans of the turn arrive."""
    async with Session(AGENTS[0]) as session:
        turn = asyncio.create_task(session.turn("slow"))
        await asyncio.wait_for(session.editor.updated.wait(), TURN_SECONDS)
        [proxy] = [pid for pid, command in session.place.processes().items() if command.startswith(PROXY)]
        os.kill(proxy, signal.SIGTERM)
        await asyncio.wait_for(session.process.wait(), EXIT_SECONDS)
        turn.cancel()
        spans, _ = received(session.place.run)
        assert [span.name for span in spans if span.name.startswith("invoke_agent")], spans


async def main():
    for agent in AGENTS:
        await check(f"acp-traces × {agent['name']}: bytes and spans", whole_session(agent))
    await check("acp-traces × sdk-example: bytes and spans", official_example())
    await check("acp-traces: recorded content", content_on_request())
    with socket.socket() as refusing, socket.socket() as silent:
        refusing.bind(("127.0.0.1", 0))
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        for state, listener in (("an unavailable", refusing), ("a silent", silent)):
            endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
            await check(f"acp-traces: {state} collector", dead_collector(endpoint))
    await check("acp-traces: exit status 0", exit_status(["sh", "-c", "exit 0"], [0]))
    await check("acp-traces: exit status 7", exit_status(["sh", "-c", "exit 7"], [7]))
    await check("acp-traces: exit status after a signal", exit_status(["sh", "-c", "kill -9 $$"], [137, -9]))
    await check("acp-traces: command not found", command_not_found())
    await check("acp-traces: SIGTERM during a turn", terminated())
    finish()


if __name__ == "__main__":
    asyncio.run(main())

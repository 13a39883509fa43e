#!/usr/bin/env python3
"""acp-bridge between the official Python client, which speaks version 1, and agents that speak version 2."""
import asyncio
import json

import acp
from acp.schema import ClientCapabilities, RequestPermissionResponse

from harness import BIN, INTEROP, Place, check, finish, lines

TURN_SECONDS = 60
EXIT_SECONDS = 10
HELLO = "Hello from the scripted model"
# Real agents: the mode in which the agent asks, the scenario in which it does, and the file that this changes.
REAL = (
    ("claude-agent-acp", "default", "shell", ("made.txt", "made\n")),
    ("codex-acp-2", "read-only", "edit", ("greeting.txt", "hello, world\n")),
)


class Editor:
    """A client that grants permissions according to `allow`, and keeps the updates of the agent."""

    def __init__(self):
        self.allow, self.updates, self.asked, self.updated = True, [], [], asyncio.Event()

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append(tool_call.tool_call_id)
        kind = "allow_once" if self.allow else "reject_once"
        [option] = [option for option in options if option.kind == kind]
        return RequestPermissionResponse(outcome={"outcome": "selected", "optionId": option.option_id})

    async def session_update(self, session_id, update, **_):
        self.updates.append(update)
        if update.session_update == "agent_message_chunk":
            self.updated.set()

    def of(self, kind):
        return [update for update in self.updates if update.session_update == kind]

    def text(self, kind="agent_message_chunk"):
        return "".join(update.content.text for update in self.of(kind) if update.content.type == "text")


class Session:
    """A session with an agent behind the bridge, with the linter on both sides."""

    def __init__(self, name="demo-agent"):
        self.name = name

    async def __aenter__(self):
        self.place, self.editor = Place(), Editor()
        place = self.place
        agent = place.tap("far", [str(INTEROP / "agents" / "start"), self.name])
        bridge = [str(BIN / "acp-bridge"), "--editor", "1", "--agent", "2", "--", *self.linted("agent", agent)]
        self.process = await asyncio.create_subprocess_exec(
            *self.linted("editor", bridge),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=open(place.root / "stderr", "wb"),
            env=place.environment,
            cwd=place.workspace,
        )
        self.agent = acp.connect_to_agent(self.editor, self.process.stdin, self.process.stdout)
        async with asyncio.timeout(TURN_SECONDS):
            answer = await self.agent.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
            assert answer.protocol_version == 1, answer
            self.opened = await self.agent.new_session(cwd=str(place.workspace), mcp_servers=[])
        self.id = self.opened.session_id
        return self

    def linted(self, side, command):
        return [str(BIN / "acp-lint"), "--format", "json", "--output", str(self.place.root / side), "--fail-on", "never", "--", *command]

    async def turn(self, word):
        """Prompts with a word of the demo agent, and returns the stop reason or the error."""
        self.editor.updates.clear()
        self.editor.asked.clear()
        self.editor.updated.clear()
        async with asyncio.timeout(TURN_SECONDS):
            try:
                return (await self.agent.prompt(session_id=self.id, prompt=[acp.text_block(word)])).stop_reason
            except acp.RequestError as error:
                return error

    async def __aexit__(self, *error):
        await self.agent.close()
        self.process.stdin.close()
        await asyncio.wait_for(self.process.wait(), EXIT_SECONDS)
        place = self.place
        try:
            if error[0]:
                print((place.root / "stderr").read_text(errors="replace")[-4000:])
                return
            told = lines(place.tapped("far", "out"))
            assert told[0]["result"]["protocolVersion"] == 2 and "info" in told[0]["result"], told[0]
            assert any(line.get("params", {}).get("update", {}).get("sessionUpdate") == "state_update" for line in told)
            for side in ("editor", "agent"):
                found = (place.root / side).read_text() if (place.root / side).exists() else ""
                found = [json.loads(line) for line in found.splitlines()]
                errors = [finding for finding in found if finding["severity"] == "error"]
                assert not errors, f"findings on the side of the {side}: {errors}"
        finally:
            left = place.leave()
        assert not left, f"left behind: {left}"


async def words():
    async with Session() as session:
        editor = session.editor
        assert await session.turn("think") == "end_turn"
        assert editor.text("agent_thought_chunk") and "I have thought about it" in editor.text()
        assert await session.turn("plan") == "end_turn"
        assert all(entry.status == "completed" for entry in editor.of("plan")[-1].entries)
        assert await session.turn("read") == "end_turn"
        [call] = editor.of("tool_call")
        assert editor.of("tool_call_update")[-1].status == "completed", editor.updates
        assert await session.turn("pieces") == "end_turn"
        texts = [item.content.text for item in editor.of("tool_call_update")[-2].content]
        assert "".join(texts) == "greeting.txt\nnotes.txt\nreadme.txt\n", texts
        assert await session.turn("rewrite") == "end_turn"
        assert "This is the final text. " in editor.text()
        assert await session.turn("max") == "max_tokens"
        assert await session.turn("refuse") == "refusal"
        error = await session.turn("error")
        assert isinstance(error, acp.RequestError), error


async def permissions():
    async with Session() as session:
        for allow, said in ((True, "I have edited"), (False, "Then I leave")):
            session.editor.allow = allow
            assert await session.turn("edit") == "end_turn"
            [call] = session.editor.of("tool_call")
            assert session.editor.asked == [call.tool_call_id]
            assert said in session.editor.text()


async def cancellation():
    async with Session() as session:
        turn = asyncio.create_task(session.turn("slow"))
        async with asyncio.timeout(TURN_SECONDS):
            await session.editor.updated.wait()
            await session.agent.cancel(session_id=session.id)
        assert await turn == "cancelled"
        assert await session.turn("hello") == "end_turn"


async def modes_and_replay():
    async with Session() as session:
        assert session.opened.modes.current_mode_id == "ask", session.opened
        async with asyncio.timeout(TURN_SECONDS):
            await session.agent.set_session_mode(session_id=session.id, mode_id="auto")
        assert await session.turn("edit") == "end_turn"
        assert session.editor.asked == []
        said = session.editor.text()
        session.editor.updates.clear()
        async with asyncio.timeout(TURN_SECONDS):
            await session.agent.load_session(cwd=str(session.place.workspace), session_id=session.id, mcp_servers=[])
        assert session.editor.text("user_message_chunk") == "edit"
        assert session.editor.text() == said
        assert len(session.editor.of("tool_call")) == 1


async def real(name, mode, scenario, changed):
    async with Session(name) as session:
        prompt = lambda scenario: f"Please do this: scenario:{scenario} in {session.place.workspace}"
        async with asyncio.timeout(TURN_SECONDS):
            await session.agent.set_session_mode(session_id=session.id, mode_id=mode)
        assert await session.turn(prompt("text")) == "end_turn"
        assert HELLO in session.editor.text(), session.editor.text()
        assert await session.turn(prompt(scenario)) == "end_turn"
        calls = {call.tool_call_id for call in session.editor.of("tool_call")}
        assert session.editor.asked and calls.issuperset(session.editor.asked), (session.editor.asked, calls)
        file, content = changed
        assert (session.place.workspace / file).read_text() == content
        session.editor.updated.clear()
        turn = asyncio.create_task(session.turn(prompt("slow")))
        async with asyncio.timeout(TURN_SECONDS):
            await session.editor.updated.wait()
            await session.agent.cancel(session_id=session.id)
        assert await turn == "cancelled"
        assert await session.turn(prompt("text")) == "end_turn"


async def main():
    for name, *expected in REAL:
        await check(f"acp-bridge × {name} in version 2 × Python client of version 1", real(name, *expected))
    title = "acp-bridge × demo-agent in version 2 × Python client of version 1: "
    for name, body in (
        ("words", words),
        ("permissions", permissions),
        ("cancellation", cancellation),
        ("modes, and the replay of a session", modes_and_replay),
    ):
        await check(title + name, body())
    finish()


asyncio.run(main())

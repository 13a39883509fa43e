#!/usr/bin/env python3
"""Validates the content that acp-traces records with the JSON schemas of the semantic conventions.

    acp_traces_schemas.py ACP_TRACES PROFILE=FOLDER... [TRANSCRIPT...]

FOLDER is the folder `docs/gen-ai` of the repository that defines the profile, at the version of the profile. For `v1.39`
and `v1.41` it is github.com/open-telemetry/semantic-conventions at v1.39.0 and v1.41.1. Requires the package `jsonschema`.

Each part of a message is validated with the definition of its type, because the schema of a message accepts any object
with a type.
"""
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMAS = {
    "gen_ai.input.messages": "gen-ai-input-messages.json",
    "gen_ai.output.messages": "gen-ai-output-messages.json",
    "gen_ai.system_instructions": "gen-ai-system-instructions.json",
    "gen_ai.tool.definitions": "gen-ai-tool-definitions.json",
}
RECORDINGS = Path(__file__).parent.parent / "semconv-map/tests/fixtures/transcripts"


class Schema:
    """A schema, and the definition of each type of part."""

    def __init__(self, path):
        schema = json.loads(path.read_text())
        self.whole = Draft202012Validator(schema)
        self.parts = {}
        for name, definition in schema.get("$defs", {}).items():
            if kind := definition.get("properties", {}).get("type", {}).get("const"):
                own = {"$defs": schema["$defs"], "$ref": f"#/$defs/{name}"}
                self.parts[kind] = Draft202012Validator(own)

    def problems(self, value, generic, seen):
        """Yields the errors of a value. Types without a definition are added to `generic`."""
        yield from (error.message for error in self.whole.iter_errors(value))
        for message in value:
            for part in message.get("parts", []):
                kind = part["type"]
                seen[kind] += 1
                if kind not in self.parts:
                    generic.add(kind)
                    continue
                yield from (f"{kind}: {error.message}" for error in self.parts[kind].iter_errors(part))


def everything():
    """Returns a turn with each kind of content, longer than the recording limits."""
    data = "iVBORw0KGgo="
    blocks = [
        {"type": "text", "text": "Look \"here\" \N{SNOWMAN}"},
        {"type": "image", "mimeType": "image/png", "data": data},
        {"type": "image", "mimeType": "image/png", "data": data, "uri": "file:///a.png"},
        {"type": "audio", "mimeType": "audio/wav", "data": data},
        {"type": "resource_link", "name": "a", "uri": "file:///a.rs", "mimeType": "text/x-rust"},
        {"type": "resource", "resource": {"uri": "file:///b.rs", "text": "fn b() {}"}},
        {"type": "resource", "resource": {"uri": "file:///c.bin", "blob": data, "mimeType": "application/pdf"}},
        {"type": "newer", "what": 1},
        {"type": "text", "text": "\N{SNOWMAN}\"" * 200_000},
    ]

    def update(**update):
        return "received", {"method": "session/update", "params": {"sessionId": "s", "update": update}}

    said = [update(sessionUpdate=kind, content=block) for block in blocks for kind in ("agent_message_chunk", "agent_thought_chunk")]
    tool = {"toolCallId": "t", "title": "Edit", "kind": "edit", "rawInput": {"path": "a.rs"}, "status": "in_progress"}
    diff = [{"type": "diff", "path": "a.rs", "oldText": "a", "newText": "b"}]
    return [
        ("sent", {"id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": blocks}}),
        *said,
        update(sessionUpdate="tool_call", **tool),
        update(sessionUpdate="tool_call_update", toolCallId="t", status="completed", content=diff, rawOutput={"ok": True}),
        update(sessionUpdate="compaction_update", compactionId="c", status="completed"),
        *said,
        ("received", {"id": 1, "result": {"stopReason": "end_turn"}}),
    ]


def write(path, messages):
    with path.open("w") as file:
        for at, (direction, message) in enumerate(messages):
            text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
            file.write(json.dumps({"time": 1_700_000_000 + at, "direction": direction, "text": text}) + "\n")


def contents(acp_traces, profile, transcript, spans):
    """Yields each attribute that has a schema, on spans and in their events."""
    command = [acp_traces, "replay", transcript, "--profile", profile, "--record-content=both", "--file", spans]
    subprocess.run(command, check=True)
    for line in spans.read_text().split("\n")[:-1]:
        [scope] = json.loads(line)["resourceSpans"][0]["scopeSpans"]
        for span in scope["spans"]:
            for attributes in [span.get("attributes", []), *(event.get("attributes", []) for event in span.get("events", []))]:
                for attribute in attributes:
                    if attribute["key"] in SCHEMAS:
                        yield attribute["key"], json.loads(attribute["value"]["stringValue"])


def main(acp_traces, *arguments):
    profiles = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    transcripts = [Path(argument) for argument in arguments if "=" not in argument] or sorted(RECORDINGS.glob("*.jsonl"))
    failed = not profiles
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "everything.jsonl"
        write(whole, everything())
        for profile, docs in profiles.items():
            schemas = {key: Schema(Path(docs) / name) for key, name in SCHEMAS.items() if (Path(docs) / name).exists()}
            seen, generic, problems, values = Counter(), set(), [], 0
            for number, transcript in enumerate([whole, *transcripts]):
                spans = Path(folder) / f"{profile}-{number}"
                for key, value in contents(acp_traces, profile, transcript, spans):
                    values += 1
                    problems += [f"{transcript.name} {key}: {it}" for it in schemas[key].problems(value, generic, seen)]
            is_good = values and not problems
            failed |= not is_good
            print("PASS" if is_good else "FAIL", profile, f"{values} values, parts {dict(seen)}, without a definition {sorted(generic)}")
            print(*problems[:20], sep="\n", end="\n" if problems else "")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)

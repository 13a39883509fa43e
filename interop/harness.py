"""Shared parts of the Python checks: named checks, workspaces, taps, the receiver's spans, leftover processes."""
import base64
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
import urllib.request
import uuid
from dataclasses import dataclass
from pathlib import Path

INTEROP = Path(__file__).parent
BIN = Path(os.environ["INTEROP_BIN"])
AGENTS = json.loads((INTEROP / "agents" / "agents.json").read_text())
SCENARIOS = json.loads((INTEROP / "scenarios.json").read_text())
MARK = "INTEROP_RUN"

failures = 0


async def check(name, body):
    """Runs one check and prints its line; `body` raises on failure."""
    global failures
    start = time.monotonic()
    try:
        await body
        print(f"PASS {name} ({time.monotonic() - start:.1f} s)", flush=True)
    except Exception:
        failures += 1
        print(f"FAIL {name}\n{traceback.format_exc()}", flush=True)


def finish():
    sys.exit(1 if failures else 0)


def prompt(agent, scenario):
    """Returns the prompt that selects a scenario."""
    return agent.get("prompts", {}).get(scenario, f"Please do this: scenario:{scenario}")


class Place:
    """The workspace, home and tap folders of one run. Each process of the run has `run` in its environment."""

    def __init__(self):
        self.run = str(uuid.uuid4())
        self.root = Path(tempfile.mkdtemp(prefix="interop-"))
        self.workspace = self.root / "workspace"
        shutil.copytree(INTEROP / "workspace", self.workspace)
        for folder in ("home", "near", "far"):
            (self.root / folder).mkdir()
        self.environment = {**os.environ, MARK: self.run, "INTEROP_HOME": str(self.root / "home")}

    def tap(self, folder, command):
        return [sys.executable, str(INTEROP / "tap.py"), str(self.root / folder), "--", *command]

    def tapped(self, folder, direction):
        """Returns the bytes of one direction through the tap of `folder`, which has served one process."""
        [path] = (self.root / folder).glob(f"*.{direction}")
        return path.read_bytes()

    def processes(self):
        """Returns the live processes of this run."""
        found, mark = {}, f"{MARK}={self.run}".encode()
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def leave(self):
        """Ends the remaining processes, removes the folders, and returns those processes."""
        left = self.processes()
        for pid in left:
            os.kill(pid, 9)
        shutil.rmtree(self.root, ignore_errors=True)
        return left


def lines(data):
    return [json.loads(line) for line in data.splitlines() if line.strip()]


def strings(value, leave_out=()):
    """Yields all strings in a JSON value, except those of the named members."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item, leave_out)
        case dict():
            for name, member in value.items():
                if name not in leave_out:
                    yield from strings(member, leave_out)


@dataclass
class Span:
    """A span in the receiver."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    status: str
    attributes: dict
    events: list


def value(any_value):
    [(kind, content)] = any_value.items() or [("none", None)]
    match kind:
        case "int_value":
            return int(content)
        case "array_value":
            return [value(item) for item in content.get("values", [])]
        case _:
            return content


def attributes(pairs):
    return {pair["key"]: value(pair["value"]) for pair in pairs}


def received(service):
    """Returns the spans of a service in the receiver, and all strings in them."""
    with urllib.request.urlopen(f"{os.environ['INTEROP_OTLP_HTTP']}/test/session/traces", timeout=10) as answer:
        requests = json.load(answer)
    spans, texts = [], []
    for request in requests:
        for resource_spans in request.get("resource_spans", []):
            resource = attributes(resource_spans["resource"].get("attributes", []))
            if resource["service.name"] != service:
                continue
            texts += strings(resource_spans)
            for scope_spans in resource_spans["scope_spans"]:
                for span in scope_spans["spans"]:
                    spans.append(
                        Span(
                            span["name"],
                            span["kind"].removeprefix("SPAN_KIND_"),
                            base64.b64decode(span["trace_id"]).hex(),
                            base64.b64decode(span["span_id"]).hex(),
                            base64.b64decode(span.get("parent_span_id", "")).hex(),
                            int(span["start_time_unix_nano"]),
                            int(span["end_time_unix_nano"]),
                            span.get("status", {}).get("code", "STATUS_CODE_UNSET").removeprefix("STATUS_CODE_"),
                            attributes(span.get("attributes", [])),
                            [event["name"] for event in span.get("events", [])],
                        )
                    )
    return spans, texts

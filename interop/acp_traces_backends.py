#!/usr/bin/env python3
"""A turn of a real agent through acp-traces, exported to several backends and read back.

The proxy also writes its spans to a file, which is compared with the recorded bytes (acp_traces.py). Each backend has to
return the same spans.
"""
import asyncio
import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from acp_traces import AGENTS, Session, expect_same_bytes, expect_spans
from harness import BIN, Place, Span, check, finish, received, value

PHOENIX, PHOENIX_GRPC = os.environ["INTEROP_PHOENIX"], os.environ["INTEROP_PHOENIX_GRPC"]
RECEIVER, RECEIVER_GRPC = os.environ["INTEROP_OTLP_HTTP"], os.environ["INTEROP_OTLP_GRPC"]
RECORDED = Path(__file__).parent.parent / "acp-types/tests/fixtures/transcripts/gemini-cli-edit.jsonl"
ARRIVAL_SECONDS = 30
KINDS = {1: "INTERNAL", 2: "SERVER", 3: "CLIENT"}
STATUSES = {0: "UNSET", 1: "OK", 2: "ERROR"}


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def in_file(path):
    """Returns the spans of a file of acp-traces."""
    return in_json([json.loads(line) for line in Path(path).read_text().splitlines()])


def in_json(requests):
    """Returns the spans of OTLP requests in JSON."""
    names = {"stringValue": "string_value", "intValue": "int_value", "doubleValue": "double_value"}
    names |= {"boolValue": "bool_value", "arrayValue": "array_value"}

    def read(one):
        [(kind, content)] = one.items()
        if kind == "arrayValue":
            content = {"values": [{names[k]: v for k, v in item.items()} for item in content["values"]]}
        return value({names[kind]: content})

    scopes = [s for request in requests for r in request["resourceSpans"] for s in r["scopeSpans"]]
    return [
        Span(
            span["name"],
            KINDS[span["kind"]],
            span["traceId"],
            span["spanId"],
            span.get("parentSpanId", ""),
            int(span["startTimeUnixNano"]),
            int(span["endTimeUnixNano"]),
            STATUSES[span.get("status", {}).get("code", 0)],
            {pair["key"]: read(pair["value"]) for pair in span["attributes"]},
            [event["name"] for event in span.get("events", [])],
        )
        for scope in scopes
        for span in scope["spans"]
    ]


def in_phoenix(project, count):
    """Waits for `count` spans of a project in Phoenix, which accepts spans before it stores them."""
    deadline = time.monotonic() + ARRIVAL_SECONDS
    while True:
        try:
            spans = get(f"{PHOENIX}/v1/projects/{project}/spans?limit=1000")["data"]
        except urllib.error.HTTPError as error:
            assert error.code == 404, error
            spans = []
        if len(spans) >= count:
            return {span["context"]["span_id"]: span for span in spans}
        assert time.monotonic() < deadline, f"{len(spans)} of {count} spans in Phoenix"
        time.sleep(0.2)


def nested(flat):
    """Returns the attributes by their full names, which Phoenix nests."""
    names = {}
    for name, content in flat.items():
        if isinstance(content, dict):
            names |= {f"{name}.{rest}": it for rest, it in nested(content).items()}
        else:
            names[name] = content
    return names


class Traced(Session):
    """A session that also writes its spans to a file, in a project with the name of the run."""

    def __init__(self, agent, options, asks=()):
        super().__init__(agent, options, asks)
        self.options = [*options, "--file", str(self.place.root / "spans.jsonl")]
        self.place.environment["OTEL_RESOURCE_ATTRIBUTES"] = f"openinference.project.name={self.place.run}"


async def one_turn(agent, endpoint, protocol, more=()):
    """Runs a turn that edits a file after a permission. Returns the name of the run and the exported spans."""
    options = ["--otlp-endpoint", endpoint, "--protocol", protocol, *more]
    async with Traced(agent, options, asks=("allow_once",)) as session:
        assert await session.turn("edit") == "end_turn"
        await session.end()
        expect_same_bytes(session)
        spans = in_file(session.place.root / "spans.jsonl")
        expect_spans(session, spans)
        told = (session.place.root / "stderr").read_text(errors="replace")
        assert "acp-traces:" not in told, told
        return session.place.run, spans


async def phoenix(agent, endpoint, protocol):
    run, spans = await one_turn(agent, endpoint, protocol, ["--backend", "phoenix", "--record-content"])
    stored = in_phoenix(run, len(spans))
    assert stored.keys() == {span.id for span in spans}, (stored.keys(), spans)
    for span in spans:
        there = stored[span.id]
        assert (there["name"], there["context"]["trace_id"]) == (span.name, span.trace), there
        assert (there["parent_id"] or "", there["status_code"]) == (span.parent, span.status), there
        turn = "LLM" if any(name.startswith("gen_ai.usage.") for name in span.attributes) else "AGENT"
        expected = {"invoke_agent": turn, "execute_tool": "TOOL"}.get(span.name.split(" ")[0], "CHAIN")
        assert there["span_kind"] == expected, there
        attributes = nested(there["attributes"])
        for name, content in span.attributes.items():
            # Phoenix stores each text of a message as a separate attribute, and the kind elsewhere.
            if not name.endswith("_messages") and name != "openinference.span.kind":
                assert attributes.get(name) == content, (name, content, attributes)
        if "gen_ai.conversation.id" in span.attributes:
            assert attributes["session.id"] == span.attributes["gen_ai.conversation.id"], attributes
        assert sorted(event["name"] for event in there["events"]) == sorted(span.events), there
    [turn] = [stored[span.id] for span in spans if span.name.startswith("invoke_agent")]
    filled = nested(turn["attributes"])
    assert "scenario:edit" in filled["input.value"] and filled["output.value"], turn
    picture(run, turn)


def query(text, **variables):
    """Returns the answer of Phoenix's GraphQL, which its pages use."""
    body = json.dumps({"query": text, "variables": variables}).encode()
    request = urllib.request.Request(f"{PHOENIX}/graphql", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        result = json.load(answer)
    assert "errors" not in result, result
    return result["data"]


COLUMNS = """query ($id: ID!) { node(id: $id) { ... on Project { spans(first: 100) { edges { node {
    spanId spanKind input { value } output { value } tokenCountPrompt tokenCountCompletion
    costSummary { total { cost } } } } } } } }"""


async def columns():
    """Checks the columns of Phoenix for a recorded turn with tokens of a model that has a price."""
    place = Place()
    spans_file = place.root / "spans.jsonl"
    environment = {**place.environment, "OTEL_RESOURCE_ATTRIBUTES": f"openinference.project.name={place.run}"}
    subprocess.run(
        [BIN / "acp-traces", "replay", "--backend", "phoenix", "--otlp-endpoint", PHOENIX, "--record-content",
         "--file", spans_file, RECORDED],
        check=True, env=environment, timeout=60,
    )  # fmt: skip
    spans = in_file(spans_file)
    in_phoenix(place.run, len(spans))
    [turn] = [span for span in spans if span.name.startswith("invoke_agent")]
    edit = next(span for span in spans if "output.value" in span.attributes and span is not turn)
    id = get(f"{PHOENIX}/v1/projects/{place.run}")["data"]["id"]
    deadline = time.monotonic() + ARRIVAL_SECONDS
    while True:
        rows = {edge["node"]["spanId"]: edge["node"] for edge in query(COLUMNS, id=id)["node"]["spans"]["edges"]}
        # The cost is computed after the span is stored.
        if rows[turn.id]["costSummary"]:
            break
        assert time.monotonic() < deadline, rows
        time.sleep(0.2)
    row, tool = rows[turn.id], rows[edit.id]
    assert row["spanKind"] == "llm" and tool["spanKind"] == "tool", rows
    assert row["input"]["value"] == turn.attributes["input.value"], row
    assert row["output"]["value"] == turn.attributes["output.value"], row
    assert tool["output"]["value"] == edit.attributes["output.value"], tool
    tokens = [turn.attributes[f"gen_ai.usage.{kind}_tokens"] for kind in ("input", "output")]
    assert [row["tokenCountPrompt"], row["tokenCountCompletion"]] == tokens, row
    assert row["costSummary"]["total"]["cost"] > 0, row
    place.leave()


def picture(project, turn):
    """Makes a screenshot of the turn if `INTEROP_PICTURES` names a folder."""
    folder = os.environ.get("INTEROP_PICTURES")
    if not folder:
        return
    id = get(f"{PHOENIX}/v1/projects/{project}")["data"]["id"]
    url = f"{PHOENIX}/projects/{urllib.parse.quote(id)}/traces/{turn['context']['trace_id']}"
    file = Path(folder) / f"{turn['name'].split(' ')[-1].replace('/', '-')}.png"
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1500,950",
         "--virtual-time-budget=15000", f"--screenshot={file}", url],
        check=True, timeout=60, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    print(f"picture {file}")


async def receiver(agent, endpoint, protocol):
    """Checks the spans, and the metrics that are exported at the end."""
    options = ["--backend", "datadog", "--metrics", "--self-metrics"]
    run, spans = await one_turn(agent, endpoint, protocol, options)
    assert all("session.id" in span.attributes for span in spans if span.name.startswith("invoke_agent")), spans
    there = received(run)[0]
    if protocol == "http/json":
        # The backend stores JSON unchanged.
        requests = get(f"{RECEIVER}/test/session/traces")
        there = in_json([it for it in requests if "resourceSpans" in it and run in json.dumps(it)])
    assert sorted(map(repr, there)) == sorted(map(repr, spans)), (there, spans)
    if protocol == "http/json":
        return
    metrics = metrics_of(run)
    tools = [span for span in spans if span.name.startswith("execute_tool")]
    permissions = [span for span in spans if span.name == "session/request_permission"]
    for name, unit, count in [
        ("acp.prompt.duration", "s", 1),
        ("acp.tool_call.duration", "s", len(tools)),
        ("acp.permission.wait.duration", "s", len(permissions)),
    ]:
        assert metrics[name]["unit"] == unit, metrics[name]
        points = metrics[name]["histogram"]["data_points"]
        assert sum(int(point["count"]) for point in points) == count, (name, count, points)
    [turn] = [span for span in spans if span.name.startswith("invoke_agent")]
    [point] = metrics["acp.prompt.duration"]["histogram"]["data_points"]
    [exemplar] = point["exemplars"]
    named = [base64.b64decode(exemplar[id]).hex() for id in ("trace_id", "span_id")]
    assert named == [turn.trace, turn.id], (exemplar, turn)
    assert exemplar["as_double"] == point["sum"], point
    made = metrics["acp_traces.spans"]["sum"]["data_points"]
    assert [int(point.get("as_int", 0)) for point in made] == [len(spans)], made


def metrics_of(service):
    """Returns the last state of each metric of a service, by name."""
    metrics = {}
    for request in get(f"{RECEIVER}/test/session/metrics"):
        for of_resource in request.get("resource_metrics", []):
            names = {it["key"]: value(it["value"]) for it in of_resource["resource"]["attributes"]}
            if names["service.name"] == service:
                for scope in of_resource["scope_metrics"]:
                    metrics |= {metric["name"]: metric for metric in scope["metrics"]}
    return metrics


async def main():
    await check("Phoenix has inputs, outputs, tokens and cost", columns())
    for agent in AGENTS:
        for protocol, url in (("grpc", PHOENIX_GRPC), ("http/protobuf", PHOENIX)):
            await check(f"Phoenix × {agent['name']} over {protocol}", phoenix(agent, url, protocol))
        for protocol, url in (("grpc", RECEIVER_GRPC), ("http/protobuf", RECEIVER), ("http/json", RECEIVER)):
            await check(f"ddapm-test-agent × {agent['name']} over {protocol}", receiver(agent, url, protocol))
    finish()


if __name__ == "__main__":
    asyncio.run(main())

"""Streams of the producer of agui-types in the official Python models, and output of the models in agui-types."""

import asyncio
import json
import os
import subprocess

from ag_ui.core import Event, RunAgentInput
from ag_ui.encoder import EventEncoder
from pydantic import TypeAdapter

from harness import check, finish

PROGRAM = os.path.join(os.environ["INTEROP_RUST_BIN"], "agui-streams")
STREAMS = "300"
EVENT = TypeAdapter(Event)


def lines_of(*args, stdin=None):
    done = subprocess.run([PROGRAM, *args], check=True, capture_output=True, text=True, input=stdin)
    return [json.loads(line) for line in done.stdout.splitlines()]


def without_nulls(value):
    """Removes `null` members, which the models write for absent members."""
    if isinstance(value, dict):
        return {name: without_nulls(it) for name, it in value.items() if it is not None}
    return [without_nulls(it) for it in value] if isinstance(value, list) else value


async def models_take_the_streams(streams):
    for stream in streams:
        RunAgentInput.model_validate(stream["input"])
        for event in stream["events"]:
            read = EVENT.validate_json(json.dumps(event))
            written = json.loads(read.model_dump_json(by_alias=True, exclude_none=True))
            assert without_nulls(written) == without_nulls(event), (event, written)


async def what_the_encoder_writes_is_read(streams):
    encoder = EventEncoder()
    bodies = [
        {"sse": "".join(encoder.encode(EVENT.validate_python(event)) for event in stream["events"])}
        for stream in streams
    ]
    read = lines_of("read", stdin="\n".join(json.dumps(body) for body in bodies))
    for found, stream in zip(read, streams, strict=True):
        assert without_nulls(found) == without_nulls(stream["events"])


async def main():
    streams = lines_of(STREAMS, "1.0")
    await check("agui × ag-ui-protocol 1.0.0: the models decode the streams", models_take_the_streams(streams))
    await check("agui × ag-ui-protocol 1.0.0: the output of its encoder is decoded", what_the_encoder_writes_is_read(streams))
    finish()


asyncio.run(main())

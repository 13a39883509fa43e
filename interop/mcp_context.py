"""Calls a tool that sends a question with a context, with one of two official Python SDKs of MCP. Prints the result.

    mcp_context.py URL CARRIER legacy|VERSION
"""

import asyncio
import json
import sys
from importlib.metadata import version

from mcp import types

url, carrier, mode = sys.argv[1:]
arguments = {"carrier": carrier}


async def form(_context, params):
    """Accepts a form, and returns the received question as its content."""
    seen = params.model_dump_json(by_alias=True, exclude_none=True)
    return types.ElicitResult(action="accept", content={"seen": seen})


async def first():
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(url) as (read, write, _):
        async with ClientSession(read, write, elicitation_callback=form) as session:
            await session.initialize()
            return (await session.call_tool("test_context", arguments)).structuredContent


async def second():
    from mcp import Client

    async with Client(url, mode=mode, elicitation_callback=form) as client:
        return (await client.call_tool("test_context", arguments)).structured_content


result = asyncio.run(first() if version("mcp").startswith("1.") else second())
print(json.dumps(result))

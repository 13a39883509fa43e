"""A client of MCP with one of two official Python SDKs, or with fastmcp, for mcp_peers.mjs: prints what it receives from a server.

    mcp_client.py sdk|fastmcp legacy|VERSION URL|COMMAND
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version

sdk, mode, target = sys.argv[1:]
progress, log, question = [], [], []
TEA = {"tea": "green"}


async def on_progress(amount, _total, _message):
    progress.append(amount)


async def on_log(params):
    log.append(params.data)


async def on_question(_context, params):
    from mcp import types

    question.append(params.message)
    return types.ElicitResult(action="accept", content=TEA)


@asynccontextmanager
async def first():
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client

    server = streamablehttp_client(target) if target.startswith("http") else stdio_client(StdioServerParameters(command=target))
    async with server as (read, write, *_):
        async with ClientSession(read, write, elicitation_callback=on_question, logging_callback=on_log) as session:
            await session.initialize()
            yield session


def second():
    from mcp import Client, StdioServerParameters

    server = target if target.startswith("http") else StdioServerParameters(command=target)
    return Client(server, mode=mode, log_level="info", elicitation_callback=on_question, logging_callback=on_log)


def fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def answer(message, _type, _params, _context):
        question.append(message)
        return TEA

    server = target if target.startswith("http") else StdioTransport(target, [])
    return Client(server, elicitation_handler=answer, log_handler=on_log, progress_handler=on_progress)


def dump(result):
    return result.model_dump(mode="json", by_alias=True)


async def main():
    made = fastmcp() if sdk == "fastmcp" else first() if version("mcp").startswith("1.") else second()
    async with made as client:
        # fastmcp has methods that return the results of the protocol.
        def method(name):
            return getattr(client, f"{name}_mcp" if sdk == "fastmcp" else name)

        tools = sorted(tool["name"] for tool in dump(await method("list_tools")())["tools"])
        if len(tools) == 2:
            more = {} if sdk == "fastmcp" else {"progress_callback": on_progress}
            added = dump(await method("call_tool")("add", {"a": 2, "b": 3}, **more))
            failed = dump(await method("call_tool")("add", {"a": 2**31 - 1, "b": 1}))
            tea = dump(await method("call_tool")("book_flight", {}))
            return {
                "tools": tools,
                "sum": added["structuredContent"],
                "error": [failed["isError"], failed["content"][0]["text"]],
                "answer": tea["content"][0]["text"],
                "question": question,
                "progress": progress,
                "log": log,
            }
        prompt = await method("get_prompt")("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
        return {
            "resources": len(dump(await method("list_resources")())["resources"]),
            "prompts": len(dump(await method("list_prompts")())["prompts"]),
            "resource": dump(await method("read_resource")("test://static-text"))["contents"][0]["text"],
            "prompt": dump(prompt)["messages"][0]["content"]["text"],
        }


print(json.dumps(asyncio.run(main())))

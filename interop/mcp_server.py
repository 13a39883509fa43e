"""A server of MCP with one of two official Python SDKs, or with fastmcp: it asks which tea, and returns the answer.

    mcp_server.py [fastmcp]
"""

import sys
from importlib.metadata import version
from typing import Annotated

from pydantic import BaseModel, Field


class Tea(BaseModel):
    tea: str


# The demo agent calls a tool of this name.
if "fastmcp" in sys.argv:
    from fastmcp import Context, FastMCP
    from mcp import types

    server = FastMCP("tea")
    question = types.ElicitRequestFormParams(message="Which tea?", requested_schema=Tea.model_json_schema())

    # Since 2026-07-28 the question is a result. fastmcp refuses undeclared arguments, and the demo agent sends two.
    @server.tool()
    async def book_flight(
        ctx: Context, start: Annotated[str, Field(alias="from")] = "", destination: str = ""
    ) -> str | types.InputRequiredResult:
        """Brings tea."""
        answer = (ctx.input_responses or {}).get("tea")
        if answer is None:
            return types.InputRequiredResult(input_requests={"tea": types.ElicitRequest(params=question)})
        return f"{answer.content['tea']} tea" if answer.action == "accept" else answer.action

elif version("mcp").startswith("1."):
    from mcp.server.fastmcp import Context, FastMCP

    server = FastMCP("tea")

    @server.tool()
    async def book_flight(ctx: Context) -> str:
        """Brings tea."""
        answer = await ctx.elicit("Which tea?", Tea)
        return f"{answer.data.tea} tea" if answer.action == "accept" else answer.action

else:
    from mcp.server.mcpserver import Elicit, MCPServer, Resolve

    server = MCPServer("tea")

    def which() -> Elicit[Tea]:
        return Elicit("Which tea?", Tea)

    @server.tool()
    async def book_flight(tea: Annotated[Tea, Resolve(which)]) -> str:
        """Brings tea."""
        return f"{tea.tea} tea"


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


server.run("stdio")

"""The tools as a server of the official MCP SDK. Nothing else imports this module before somebody wants it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as Described

from memproxy import __version__
from memproxy.assembly.parts import Parts
from memproxy.errors import Problem, StoreError, places
from memproxy.model import Entity
from memproxy.server.access import Caller
from memproxy.server.agents.tools import TOOLS, Tool, use

log = logging.getLogger(__name__)

Whose = Callable[[Any], tuple[Caller, Entity]]  # of a request's context
MAX_BODY = 1024 * 1024
_INSTRUCTIONS = (
    "The long-term memory of one person. Before you answer what may depend on who they are, use context or search. Use "
    "add for what they want to be remembered, correct and forget when they say that something is wrong or is to go."
)


def server_of(parts: Parts, whose: Whose) -> Server[Any]:
    """An MCP server of the tools; `whose` says whose memory a request is about."""

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        tool = next((tool for tool in TOOLS if tool.name == params.name), None)
        if tool is None:
            return _failed(f"There is no tool {params.name}. There are {', '.join(tool.name for tool in TOOLS)}.")
        caller, entity = whose(context)
        try:
            answer = await use(tool, parts, caller, entity, params.arguments or {})
        except Problem as problem:
            return _failed(f"{problem.title}. {problem.detail}".strip())
        except StoreError:
            return _failed("The database cannot be used now. Try again later.")
        except Exception as error:  # the last door: a fault is told by its kind, its message may hold content
            log.error("the tool %s failed: %s (%s)", tool.name, type(error).__name__, places(error))
            return _failed("A fault in memproxy. Its log names the kind.")
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=answer)

    return Server(
        "memproxy",
        version=__version__,
        title="memproxy",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def manager_of(parts: Parts, whose: Whose) -> StreamableHTTPSessionManager:
    """The same over streamable HTTP, each request by itself: no session to keep, JSON for an answer."""
    server = server_of(parts, whose)
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True, max_request_body_size=MAX_BODY)


async def serve_stdio(parts: Parts, entity: Entity) -> None:
    """The same over standard input and output, until the input ends, for one entity."""
    server = server_of(parts, lambda context: (Caller(), entity))
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _described(tool: Tool) -> Described:
    return Described(
        name=tool.name,
        description=tool.about,
        input_schema=tool.arguments(),
        output_schema=tool.answer(),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent or tool.read_only,
            open_world_hint=False,
        ),
    )


def _failed(text: str) -> CallToolResult:
    """What would work, for the model to read."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)

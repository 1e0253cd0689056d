"""The server: lists the tools, checks arguments, and answers over standard input and output."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from pydantic import BaseModel

from darc.errors import DarcError, nearest
from darc.mcp.arguments import (
    AskArguments,
    ChooseArguments,
    CompareArguments,
    ExplainArguments,
    ToolArguments,
)
from darc.mcp.results import ChoiceResult, ComparisonResult, ExplanationResult
from darc.mcp.tools import Tools
from darc.settings.validation import validate_settings

_INSTRUCTIONS = (
    "DARC chooses one of several answers: one that few people would be unhappy with. Show its "
    "explanation beside the answer. If held is true, say that no answer is good enough."
)
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Tool:
    """One tool: what it is called, takes and returns, and what does the work."""

    name: str
    description: str
    arguments: type[ToolArguments]
    result: type[BaseModel]
    run: Callable[[Any], Awaitable[BaseModel]]

    def listing(self) -> Any:
        """The tool as clients see it."""
        return types.Tool(
            name=self.name,
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            output_schema=self.result.model_json_schema(),
            annotations=types.ToolAnnotations(read_only_hint=True, destructive_hint=False),
        )


def make_server(tools: Tools, version: str) -> Any:
    """Make the server.

    Args:
        tools: What the tools do.
        version: The version that clients are told.

    Returns:
        A server of the mcp package.
    """
    by_name = {tool.name: tool for tool in _list_of_tools(tools)}

    async def list_tools(*_: Any) -> Any:
        return types.ListToolsResult(tools=[tool.listing() for tool in by_name.values()])

    async def call_tool(_: Any, request: Any) -> Any:
        tool = by_name.get(request.name)
        if tool is None:
            return _error(f"unknown tool {request.name!r}; {nearest(request.name, by_name)}")
        try:
            arguments = validate_settings(tool.arguments, request.arguments or {})
            result = await tool.run(arguments)
        except DarcError as problem:
            return _error(str(problem))
        except OSError as problem:
            return _error(f"a file could not be read ({problem.strerror or problem})")
        except Exception as problem:
            _LOGGER.exception("the tool %s failed", tool.name)
            return _error(f"{tool.name} failed ({type(problem).__name__}); see the server's log")
        data = result.model_dump(mode="json")
        text = types.TextContent(type="text", text=json.dumps(data, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=data)

    return Server(
        "darc",
        version=version,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_stdio(tools: Tools, version: str) -> None:
    """Serve one client over standard input and output, until it closes them."""
    asyncio.run(_serve(tools, version))


async def _serve(tools: Tools, version: str) -> None:
    server = make_server(tools, version)
    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    finally:
        await tools.aclose()


def _list_of_tools(tools: Tools) -> list[_Tool]:
    """The tools with their descriptions."""
    return [
        _Tool(
            "ask",
            "Answer a question: the server's model writes several answers, and the one that few "
            "people would be unhappy with is returned, with the reason.",
            AskArguments,
            ChoiceResult,
            tools.ask,
        ),
        _Tool(
            "choose",
            "Choose among answers that you have: by people's ratings of them if you give any, "
            "otherwise by the server's own raters or scorers.",
            ChooseArguments,
            ChoiceResult,
            tools.choose,
        ),
        _Tool(
            "compare",
            "Say which of several systems (models, prompts, teams) is best for everyone, from "
            "people's ratings of their answers to the same prompts.",
            CompareArguments,
            ComparisonResult,
            tools.compare,
        ),
        _Tool(
            "explain",
            "Explain in full an earlier decision of ask or choose, or the decision on one prompt "
            "of a run.",
            ExplainArguments,
            ExplanationResult,
            tools.explain,
        ),
    ]


def _error(sentence: str) -> Any:
    """A failure, which the client's model can read."""
    content = [types.TextContent(type="text", text=sentence)]
    return types.CallToolResult(content=content, is_error=True)

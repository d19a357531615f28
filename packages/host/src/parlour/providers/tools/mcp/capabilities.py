"""Filters what a server lists by the Host's limits. Everything else is left out, with a message for each."""

from collections.abc import Iterable, Sequence
from typing import Any

from mcp_types import Prompt, Resource, ResourceTemplate, Tool
from pydantic_core import to_json

from parlour.core.tools.mcp import McpListing, McpPrompt, McpPromptArgument, McpResource, McpTool

from ..sanitize import sanitize_text

MAX_TOOLS = 500
MAX_RESOURCES = 500
MAX_PROMPTS = 200
MAX_ARGUMENTS = 50
MAX_SCHEMA_BYTES = 32 * 1024
MAX_SCHEMA_DEPTH = 32
NAME_CHARACTERS = 128
ADDRESS_CHARACTERS = 2048
DESCRIPTION_CHARACTERS = 10_000
SHORT_CHARACTERS = 1000
"""Maximum length of the description of a resource, prompt or argument."""


def build_listing(
    tools: Sequence[Tool], resources: Sequence[Resource | ResourceTemplate], prompts: Sequence[Prompt]
) -> McpListing:
    left_out: list[str] = []
    return McpListing(
        tuple(_tools(tools, left_out)),
        tuple(_resources(resources, left_out)),
        tuple(_prompts(prompts, left_out)),
        tuple(left_out),
    )


def _tools(tools: Sequence[Tool], left_out: list[str]) -> Iterable[McpTool]:
    accepted: dict[str, McpTool] = {}
    for tool in tools[:MAX_TOOLS]:
        if not _is_word(tool.name):
            left_out.append(f"a tool's name is empty, too long or not one word: '{tool.name[:40]!a}'")
        elif not _fits(tool.input_schema):
            left_out.append(f"the schema of its tool '{tool.name}' is too large or too deep")
        elif tool.name in accepted:
            left_out.append(f"it lists two tools named '{tool.name}'; the first one counts")
        else:
            accepted[tool.name] = _tool(tool)
    _say_if_more(len(tools), MAX_TOOLS, "tools", left_out)
    return accepted.values()


def _resources(resources: Sequence[Resource | ResourceTemplate], left_out: list[str]) -> Iterable[McpResource]:
    accepted: dict[str, McpResource] = {}
    for each in resources[:MAX_RESOURCES]:
        is_template = isinstance(each, ResourceTemplate)
        uri = each.uri_template if isinstance(each, ResourceTemplate) else each.uri
        if not 0 < len(uri) <= ADDRESS_CHARACTERS or not uri.isprintable():
            left_out.append(f"a resource's address is empty, too long or not printable: '{uri[:40]!a}'")
        else:
            name, description = sanitize_text(each.title or each.name), sanitize_text(each.description or "")
            accepted.setdefault(
                uri,
                McpResource(
                    uri,
                    name[:NAME_CHARACTERS],
                    description[:SHORT_CHARACTERS],
                    sanitize_text(each.mime_type or "")[:NAME_CHARACTERS],
                    is_template,
                ),
            )
    _say_if_more(len(resources), MAX_RESOURCES, "resources", left_out)
    return accepted.values()


def _prompts(prompts: Sequence[Prompt], left_out: list[str]) -> Iterable[McpPrompt]:
    accepted: dict[str, McpPrompt] = {}
    for prompt in prompts[:MAX_PROMPTS]:
        if not _is_word(prompt.name):
            left_out.append(f"a prompt's name is empty, too long or not one word: '{prompt.name[:40]!a}'")
        else:
            accepted.setdefault(prompt.name, _prompt(prompt))
    _say_if_more(len(prompts), MAX_PROMPTS, "prompts", left_out)
    return accepted.values()


def _tool(tool: Tool) -> McpTool:
    hints = tool.annotations
    description = sanitize_text(tool.description or tool.title or "")
    read_only = hints is not None and hints.read_only_hint is True
    return McpTool(tool.name, description[:DESCRIPTION_CHARACTERS], tool.input_schema, read_only)


def _prompt(prompt: Prompt) -> McpPrompt:
    arguments = tuple(
        McpPromptArgument(
            each.name[:NAME_CHARACTERS], sanitize_text(each.description or "")[:SHORT_CHARACTERS], bool(each.required)
        )
        for each in (prompt.arguments or ())[:MAX_ARGUMENTS]
    )
    description = sanitize_text(prompt.description or prompt.title or "")
    return McpPrompt(prompt.name, description[:SHORT_CHARACTERS], arguments)


def _is_word(name: str) -> bool:
    return 0 < len(name) <= NAME_CHARACTERS and name.isprintable() and " " not in name


def _say_if_more(number: int, limit: int, noun: str, left_out: list[str]) -> None:
    if number > limit:
        left_out.append(f"it lists more than {limit} {noun}; the first {limit} count")


def _fits(schema: Any) -> bool:
    return _depth(schema) <= MAX_SCHEMA_DEPTH and len(to_json(schema)) <= MAX_SCHEMA_BYTES


def _depth(value: Any) -> int:
    """Returns the nesting depth, counted up to just over the limit."""
    level, depth = [value], 0
    while level and depth <= MAX_SCHEMA_DEPTH:
        depth += 1
        level = [child for each in level for child in _inside(each)]
    return depth


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()

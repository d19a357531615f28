"""Keeps the definitions of many tools out of the prompt: the model searches for those that it needs."""

from collections.abc import Collection, Sequence
from typing import Any

from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.tools import ToolOutcome

from . import token_estimates

TOOL_NAME = "search_tools"
MAX_DEFINITION_TOKENS = 6000
"""Tokens of definitions up to which all tools are given at once."""
ALWAYS_GIVEN = 8
"""Tools that are given also when the others are searched."""
MAX_FOUND = 8


def needs_search(definitions: Sequence[ToolDefinition]) -> bool:
    """Returns whether the definitions are too long to be sent with every request."""
    if len(definitions) <= ALWAYS_GIVEN:
        return False
    return token_estimates.estimate_tools(definitions) > MAX_DEFINITION_TOKENS


def split(
    definitions: Sequence[ToolDefinition], always: Collection[str]
) -> tuple[list[ToolDefinition], list[ToolDefinition]]:
    """Returns the tools that are given at once, and those that are found by a search.

    The first are those named in `always`, filled up with the first others.
    """
    places = max(0, ALWAYS_GIVEN - sum(each.name in always for each in definitions))
    others = [each for each in definitions if each.name not in always]
    hidden = others[places:]
    return [each for each in definitions if each not in hidden], hidden


def definition(hidden: int) -> ToolDefinition:
    """Returns the tool by which the model finds others."""
    return ToolDefinition(
        name=TOOL_NAME,
        description=f"Finds tools by what they do. {hidden} more tools exist; found ones can be called afterwards.",
        parameters_schema={
            "type": "object",
            "properties": {"query": {"type": "string", "description": "Some words about what the tool should do"}},
            "required": ["query"],
        },
    )


def find(query: Any, definitions: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """Returns the tools whose names and descriptions have most of the words, best first."""
    words = [word for word in str(query or "").casefold().replace("_", " ").split() if word]
    scored = [
        (sum(word in f"{each.name} {each.description}".casefold() for word in words), each) for each in definitions
    ]
    found = sorted((each for each in scored if each[0]), key=lambda each: -each[0])
    return [each for _, each in found[:MAX_FOUND]]


def outcome(found: Sequence[ToolDefinition]) -> ToolOutcome:
    """Returns what the model is told about the tools that were found."""
    lines = [f"- {each.name}: {each.description or ''}".rstrip(": ") for each in found]
    text = "These can be called now:\n" + "\n".join(lines) if lines else "Nothing fits. Try other words."
    return ToolOutcome(content=[TextElement(text=text)])

"""Maps a server's tools to the Host's.

Two more tools read its resources and prompts, unless it has tools of these names.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parlour.core.tools.mcp import McpListing, McpPrompt, McpRequest, McpResource

from ..source import OfferedTool

READ_RESOURCE_TOOL = "read_resource"
GET_PROMPT_TOOL = "get_prompt"
MAX_DESCRIPTION_CHARACTERS = 4000
"""Maximum length of the description of these two tools; entries that do not fit are omitted."""
READ_RESOURCE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "Its address."}},
    "required": ["uri"],
}
GET_PROMPT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["name"],
}


def to_tools(server: str, listing: McpListing) -> Sequence[OfferedTool]:
    provider = f"the MCP server {server}"
    tool_names = {tool.name for tool in listing.tools}
    offers = [
        OfferedTool(f"{server}.{tool.name}", "mcp", provider, tool.description, tool.parameters_schema, tool.read_only)
        for tool in listing.tools
    ]
    if listing.resources and READ_RESOURCE_TOOL not in tool_names:
        description = _describe(f"Reads a resource of '{server}'. There are:", map(_resource, listing.resources))
        offers.append(
            OfferedTool(
                f"{server}.{READ_RESOURCE_TOOL}", "mcp", provider, description, READ_RESOURCE_SCHEMA, read_only=True
            )
        )
    if listing.prompts and GET_PROMPT_TOOL not in tool_names:
        description = _describe(f"Gives a prompt of '{server}', filled in. There are:", map(_prompt, listing.prompts))
        offers.append(
            OfferedTool(f"{server}.{GET_PROMPT_TOOL}", "mcp", provider, description, GET_PROMPT_SCHEMA, read_only=True)
        )
    return offers


def to_request(listing: McpListing, tool: str, parameters: Mapping[str, Any]) -> McpRequest:
    """Converts a tool call into the request for the server."""
    if tool in (READ_RESOURCE_TOOL, GET_PROMPT_TOOL) and all(each.name != tool for each in listing.tools):
        if tool == READ_RESOURCE_TOOL:
            return McpRequest("resource", str(parameters["uri"]))
        return McpRequest("prompt", str(parameters["name"]), parameters.get("arguments") or {})
    return McpRequest("tool", tool, parameters)


def _describe(head: str, lines: Iterable[str]) -> str:
    text = head
    for line in lines:
        if len(text) + len(line) > MAX_DESCRIPTION_CHARACTERS:
            return f"{text}\n- and more"
        text += f"\n- {line}"
    return text


def _resource(each: McpResource) -> str:
    parts = (each.uri, each.name if each.name != each.uri else "", each.description)
    return ": ".join(part for part in parts if part)


def _prompt(each: McpPrompt) -> str:
    arguments = ", ".join(argument.name if argument.required else f"{argument.name}?" for argument in each.arguments)
    return f"{each.name}({arguments}): {each.description}" if each.description else f"{each.name}({arguments})"

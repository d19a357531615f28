"""Maps a server's tools to the Host's.

Two more tools read its resources and prompts, unless it has tools of these names.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parlour.core.tools.mcp import Listing, RemotePrompt, RemoteResource, Wanted

from ..source import Offer

READ = "read_resource"
FILL_IN = "get_prompt"
DESCRIBED_CHARACTERS = 4000
"""Maximum length of the description of these two tools; entries that do not fit are omitted."""
READ_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "Its address."}},
    "required": ["uri"],
}
FILL_IN_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["name"],
}


def offered(server: str, listing: Listing) -> Sequence[Offer]:
    provider = f"the MCP server {server}"
    own = {tool.name for tool in listing.tools}
    offers = [
        Offer(f"{server}.{tool.name}", "mcp", provider, tool.description, tool.parameters_schema, tool.read_only)
        for tool in listing.tools
    ]
    if listing.resources and READ not in own:
        words = _described(f"Reads a resource of '{server}'. There are:", map(_resource, listing.resources))
        offers.append(Offer(f"{server}.{READ}", "mcp", provider, words, READ_SCHEMA, read_only=True))
    if listing.prompts and FILL_IN not in own:
        words = _described(f"Gives a prompt of '{server}', filled in. There are:", map(_prompt, listing.prompts))
        offers.append(Offer(f"{server}.{FILL_IN}", "mcp", provider, words, FILL_IN_SCHEMA, read_only=True))
    return offers


def wanted(listing: Listing, tool: str, parameters: Mapping[str, Any]) -> Wanted:
    """Converts a tool call into the request for the server."""
    if tool in (READ, FILL_IN) and all(each.name != tool for each in listing.tools):
        if tool == READ:
            return Wanted("resource", str(parameters["uri"]))
        return Wanted("prompt", str(parameters["name"]), parameters.get("arguments") or {})
    return Wanted("tool", tool, parameters)


def _described(head: str, lines: Iterable[str]) -> str:
    told = head
    for line in lines:
        if len(told) + len(line) > DESCRIBED_CHARACTERS:
            return f"{told}\n- and more"
        told += f"\n- {line}"
    return told


def _resource(each: RemoteResource) -> str:
    parts = (each.uri, each.name if each.name != each.uri else "", each.description)
    return ": ".join(part for part in parts if part)


def _prompt(each: RemotePrompt) -> str:
    arguments = ", ".join(argument.name if argument.required else f"{argument.name}?" for argument in each.arguments)
    return f"{each.name}({arguments}): {each.description}" if each.description else f"{each.name}({arguments})"

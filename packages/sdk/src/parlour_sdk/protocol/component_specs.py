"""The `spec` of a component file, by kind. An AgentRunner's is its manifest (see `manifest`)."""

from typing import Any, Literal

from pydantic import BaseModel

from .base import Request
from .form import FormItem
from .pages import PageRole


class ListenerSpec(Request):
    """Handlers are in the class; these are the listener's own place and manner."""

    priority: int = 0
    """Higher comes first."""
    observe: bool = False
    """Sees events that another handler serves, and can't change them."""


class ToolSpec(Request):
    """What a tool takes."""

    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    """JSON Schema of the parameters, an object."""
    read_only: bool = False
    """Changes nothing, so that calling it again does no harm."""


class CommandSpec(Request):
    """How a command is used."""

    usage: str | None = None
    aliases: list[str] = []


class KnowledgeEngineSpec(Request):
    """What a knowledge base of this engine is configured with."""

    config_schema: list[FormItem] = []
    retrieval_schema: list[FormItem] = []
    """Settings of a search."""
    files: Literal["text", "content", "none"] = "text"
    """What it takes of a file: the text that the Host has read, the bytes, or no files at all."""


class ParserSpec(Request):
    """Which files a parser reads."""

    extensions: list[str] = []
    """With their dot: `.pdf`."""
    mime_types: list[str] = []


class PageSpec(Request):
    """A page of the plugin's own in the web interface."""

    path: str
    """The HTML file inside the plugin's folder, at most 1 MiB; it loads nothing else."""
    role: PageRole = "operator"
    """The lowest role that may open the page."""


SPECS: dict[str, type[BaseModel]] = {
    "EventListener": ListenerSpec,
    "Tool": ToolSpec,
    "Command": CommandSpec,
    "KnowledgeEngine": KnowledgeEngineSpec,
    "Parser": ParserSpec,
    "Page": PageSpec,
}

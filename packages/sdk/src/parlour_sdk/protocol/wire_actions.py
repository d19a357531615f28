"""The actions that the Host calls on a plugin: request and answer of each. Those of plugins are in `host_actions`."""

from pydantic import BaseModel

from ..values import dataclass
from . import components, handshake, knowledge, pages
from .calls import Done
from .context import AgentRunRequest
from .host_actions import HOST_ACTIONS, HostAction
from .results import AgentRunResult
from .tools import ToolInvocation, ToolOutcome

__all__ = ["HELLO", "HOST_ACTIONS", "PLUGIN_ACTIONS", "HostAction", "PluginAction"]


@dataclass(frozen=True, slots=True)
class PluginAction:
    """A request of the Host to a plugin."""

    name: str
    request: type[BaseModel] | None
    answer: type[BaseModel]
    streams: bool = False


PLUGIN_ACTIONS: dict[str, PluginAction] = {
    action.name: action
    for action in (
        PluginAction("list_components", None, components.ComponentList),
        PluginAction("list_agent_runners", None, components.RunnerList),
        PluginAction("run_agent", AgentRunRequest, AgentRunResult, streams=True),
        PluginAction("check_runner", components.RunnerCheck, components.RunnerCheckResult),
        PluginAction("emit_event", components.EmitEvent, components.EventOutcome),
        PluginAction("call_tool", ToolInvocation, ToolOutcome),
        PluginAction("run_command", components.CommandInvocation, components.CommandReply, streams=True),
        PluginAction("kb_ingest", knowledge.KnowledgeIngest, knowledge.IngestOutcome),
        PluginAction("kb_retrieve", knowledge.KnowledgeRetrieve, knowledge.KnowledgeResult),
        PluginAction("kb_delete", knowledge.KnowledgeDelete, Done),
        PluginAction("parse_file", knowledge.ParseFile, knowledge.ParsedFile),
        PluginAction("read_page", pages.PageRead, pages.PageDocument),
        PluginAction("call_page", pages.PageCall, pages.PageAnswer),
        PluginAction("shutdown", components.Shutdown, Done),
    )
}

HELLO = ("hello", handshake.Hello, handshake.Welcome)
"""Action of the first call on every connection."""

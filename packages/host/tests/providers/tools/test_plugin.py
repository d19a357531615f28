"""Tools of plugins are named after their plugin, and failures of its process are reported."""

from typing import Any

import pytest

from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable, ResultStream
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.providers.tools.plugin_tools import PluginTools
from parlour_sdk.protocol.content import plain_text

ASKING = CallContext("acme/runner", "run-1", "agent-1", "conversation-1", "user", "alice")
LAMP = {
    "kind": "Tool",
    "name": "lamp",
    "description": {"de_DE": "Eine Lampe", "en_US": "A lamp"},
    "spec": {"parameters": {"type": "object", "required": ["state"]}, "read_only": False},
}
CALLED = {"content": [{"type": "text", "text": "on"}]}


class Caller:
    """Answers every call with the given answer and records the calls."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self._answer = answer
        self.calls: list[tuple[str, str, dict[str, Any]]] = []

    def run_agent(self, plugin_id: str, request: dict[str, Any]) -> ResultStream:
        raise AssertionError("no run is asked for")

    async def stream(self, plugin_id: str, action: str, data: dict[str, Any]) -> ResultStream:
        raise AssertionError("no stream is asked for")

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        self.calls.append((plugin_id, action, data))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def tools(answer: dict[str, Any] | Exception = CALLED) -> tuple[PluginTools, Caller, ComponentRegistry]:
    components = ComponentRegistry()
    assert components.replace_plugin("acme/house", "1.0.0", [LAMP]) == []
    caller = Caller(answer)
    return PluginTools(components, caller, 30), caller, components


def test_a_tool_is_named_after_its_plugin_and_described() -> None:
    (lamp,) = tools()[0].tools()
    assert (lamp.tool_name, lamp.description, lamp.read_only) == ("acme/house.lamp", "A lamp", False)
    assert lamp.parameters_schema["required"] == ["state"]


def test_the_tools_of_a_removed_plugin_are_removed() -> None:
    made, _, components = tools()
    assert made.tools() is made.tools()
    components.remove_plugin("acme/house")
    assert made.tools() == ()


async def test_a_call_reaches_the_plugin_of_the_tool_with_actor_and_conversation() -> None:
    made, caller, _ = tools()
    outcome = await made.call(ASKING, "acme/house.lamp", {"state": "on"})
    assert plain_text(outcome.content) == "on"
    ((plugin_id, action, data),) = caller.calls
    assert (plugin_id, action, data["tool_name"], data["run_id"]) == ("acme/house", "call_tool", "lamp", "run-1")
    assert data["actor"]["actor_id"] == "alice"
    assert data["conversation"]["conversation_id"] == "conversation-1"


@pytest.mark.parametrize(
    ("answer", "reason", "retryable"),
    [
        (PluginUnavailable("the plugin is stopped"), "was not called: the plugin is stopped", True),
        (PluginCallFailed("deadline_exceeded", "too late"), "failed: too late", False),
        (PluginCallFailed("payload_too_large", "10 MB, at most 2"), "gave more than can be passed on: 10 MB", False),
        (PluginDisconnected("its process ended"), "went away during the call; whether it acted is not known", False),
        ({"content": "no list"}, "gave what is no answer", False),
    ],
)
async def test_a_failed_call_is_reported_with_its_reason(
    answer: dict[str, Any] | Exception, reason: str, retryable: bool
) -> None:
    with pytest.raises(ProviderFailed, match=reason) as failed:
        await tools(answer)[0].call(ASKING, "acme/house.lamp", {"state": "on"})
    assert failed.value.retryable is retryable

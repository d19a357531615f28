"""Components of plugins: each kind by itself, the newest of each plugin, removed with their plugin."""

from typing import Any

import pytest

from parlour.core.plugin_hooks.components import ComponentRegistry, HandlerSubscription

TOOL = {"kind": "Tool", "name": "lamp", "label": {"en_US": "Lamp"}, "spec": {"read_only": True}}
LISTENER = {
    "kind": "EventListener",
    "name": "watcher",
    "spec": {"priority": 5, "handlers": [{"event": "message.*", "priority": 7, "observe": True}]},
}
ALL = [
    TOOL,
    LISTENER,
    {"kind": "Command", "name": "roll", "spec": {"usage": "roll SIDES", "aliases": ["r"]}},
    {"kind": "KnowledgeEngine", "name": "shelf", "spec": {"config_schema": []}},
    {"kind": "Parser", "name": "pdf", "spec": {"extensions": [".pdf"]}},
    {"kind": "AgentRunner", "name": "default"},
    {"kind": "Page", "name": "about", "spec": {"path": "about.html"}},
]


def test_every_kind_is_found_with_its_plugin_and_spec() -> None:
    components = ComponentRegistry()
    assert components.replace_plugin("acme/one", "1.2", ALL) == []
    [tool] = components.tools()
    assert (tool.plugin_id, tool.plugin_version, tool.name, tool.label) == ("acme/one", "1.2", "lamp", TOOL["label"])
    assert tool.spec.read_only
    [listener] = components.listeners()
    assert listener.spec.priority == 5
    assert listener.spec.handlers == [HandlerSubscription(event="message.*", priority=7, observe=True)]
    assert [each.spec.aliases for each in components.commands()] == [["r"]]
    assert [each.name for each in components.knowledge_engines()] == ["shelf"]
    assert [each.spec.extensions for each in components.parsers()] == [[".pdf"]]


@pytest.mark.parametrize(
    ("item", "named"),
    [
        (5, "skipped"),
        ({"kind": "Spell", "name": "x"}, "kind"),
        ({"kind": "Tool"}, "name"),
        ({"kind": "Tool", "name": ""}, "has no name"),
        ({**TOOL, "name": "bad", "spec": {"read_only": "yes"}}, "read_only"),
        ({**LISTENER, "spec": {"handlers": [{"priority": 1}]}}, "handlers.0.event"),
        (TOOL, "a second Tool 'lamp'"),
    ],
)
def test_invalid_component_is_skipped_with_a_warning(item: Any, named: str) -> None:
    components = ComponentRegistry()
    [warning] = components.replace_plugin("acme/one", "1", [TOOL, item])
    assert "acme/one" in warning
    assert named in warning
    assert [each.name for each in components.tools()] == ["lamp"]
    assert components.listeners() == []


def test_new_process_replaces_only_components_of_its_plugin() -> None:
    components = ComponentRegistry()
    components.replace_plugin("acme/two", "1", [TOOL])
    components.replace_plugin("acme/one", "1", [TOOL, LISTENER])
    components.replace_plugin("acme/one", "2", [{**TOOL, "name": "torch"}])
    shown = [(each.plugin_id, each.plugin_version, each.name) for each in components.tools()]
    assert shown == [("acme/one", "2", "torch"), ("acme/two", "1", "lamp")]
    assert components.listeners() == []
    components.remove_plugin("acme/one")
    assert [each.plugin_id for each in components.tools()] == ["acme/two"]

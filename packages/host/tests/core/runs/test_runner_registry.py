"""The registry of runners: each manifest by itself, and only for its own plugin."""

from typing import Any

import pytest

from parlour.core.runs.runner_registry import RunnerRegistry

from ..support import DISCOVERY, PLUGIN, RUNNER


def discovery(name: str = "default", **manifest: Any) -> dict[str, Any]:
    fields = {**DISCOVERY["manifest"], "id": f"plugin:{PLUGIN}/{name}", "name": name, **manifest}
    return {**DISCOVERY, "runner_name": name, "manifest": fields}


def test_discovered_runner_has_the_version_of_its_plugin() -> None:
    registry = RunnerRegistry()
    assert registry.replace_plugin(PLUGIN, "1.2", [discovery()]) == []
    found = registry.get(RUNNER)
    assert found is not None
    assert (found.plugin_id, found.plugin_version) == (PLUGIN, "1.2")


BAD: dict[str, tuple[Any, str]] = {
    "not an object": (5, "skipped"),
    "no manifest": ({"plugin_author": "acme", "plugin_name": "puppet", "runner_name": "x"}, "manifest"),
    "unknown capability": (discovery("bad", capabilities={"flying": True}), "capabilities.flying"),
    "unknown permission": (discovery("bad", permissions={"models": ["steal"]}), "permissions.models.0"),
    "unknown field": (discovery("bad", colour="red"), "colour"),
    "no label": (discovery("bad", label=None), "label"),
    "wrong form": (discovery("bad", config_schema=[{"name": "x"}]), "config_schema.0"),
    "another's id": (discovery("bad", id="plugin:acme/other/bad"), "plugin:acme/puppet/bad"),
    "another plugin": ({**discovery("bad"), "plugin_name": "other"}, "acme/other"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_runner_is_skipped_with_a_warning(case: str) -> None:
    item, named = BAD[case]
    registry = RunnerRegistry()
    [warning] = registry.replace_plugin(PLUGIN, "1", [item, discovery("good")])
    assert PLUGIN in warning
    assert named in warning
    assert [each.runner_id for each in registry.all()] == [f"plugin:{PLUGIN}/good"]


def test_refresh_replaces_only_runners_of_its_plugin() -> None:
    registry = RunnerRegistry()
    other = {
        "plugin_author": "b",
        "plugin_name": "c",
        "runner_name": "d",
        "manifest": {"id": "plugin:b/c/d", "name": "d", "label": {}},
    }
    registry.replace_plugin(PLUGIN, "1", [discovery("old")])
    registry.replace_plugin("b/c", "1", [other])
    registry.replace_plugin(PLUGIN, "2", [discovery("new")])
    assert [each.runner_id for each in registry.all()] == [f"plugin:{PLUGIN}/new", "plugin:b/c/d"]
    registry.remove_plugin("b/c")
    assert [each.runner_id for each in registry.all()] == [f"plugin:{PLUGIN}/new"]

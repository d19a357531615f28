"""Tests that each fault of a plugin's folder is reported in one sentence with file, line and remedy."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parlour_sdk.plugin import LoadedPlugin, PluginInvalid, load, read_plugin
from parlour_sdk.protocol.manifest import AgentRunnerManifest

from .plugin_code import CODE, HEAD, component, line_of, manifest
from .plugin_faults import CASES, KINDS


@pytest.fixture
def place(workshop: Path) -> Path:
    """Provides a folder with code for components of every kind and a manifest that lists none."""
    (workshop / "code.py").write_text(CODE)
    (workshop / "manifest.yaml").write_text(manifest())
    return workshop


def write(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (place / name).write_text(text)


def refusal(place: Path) -> str:
    with pytest.raises(PluginInvalid) as invalid:
        load(read_plugin(place))
    message = str(invalid.value)
    assert "\n" not in message
    return message


def loaded(place: Path, files: dict[str, str]) -> LoadedPlugin:
    write(place, files)
    return load(read_plugin(place))


@pytest.mark.parametrize("kind", KINDS)
def test_a_component_of_every_kind_is_loaded_from_its_file(place: Path, kind: str) -> None:
    attr, where = KINDS[kind]
    plugin = loaded(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": component(kind, attr)})
    assert type(getattr(plugin, where)["it"]).__name__ == attr
    assert [(each["kind"], each["name"]) for each in plugin.components] == [(kind, "it")]


def test_a_page_needs_no_code(place: Path) -> None:
    page = HEAD.format(kind="Page", name="home") + "spec: {path: home.html}\n"
    plugin = loaded(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": page, "home.html": "<p>"})
    assert plugin.components == ({"kind": "Page", "name": "home", "spec": {"path": "home.html"}},)


def test_a_summary_has_the_description_and_spec_of_its_component_file(place: Path) -> None:
    spec = "{parameters: {type: object, properties: {city: {type: string}}, required: [city]}, read_only: true}"
    text = component("Tool", "Weather", spec).replace("{name: it}", "{name: it, description: {en_US: Looks}}")
    plugin = loaded(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": text})
    [summary] = plugin.components
    assert summary["description"] == {"en_US": "Looks"}
    assert summary["spec"]["parameters"]["required"] == ["city"]
    assert plugin.spec("Tool", "it")["read_only"] is True
    assert plugin.spec("Tool", "other") == {}


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_reported_with_file_line_and_remedy(place: Path, case: str) -> None:
    files, where, expected = CASES[case]
    if "it.yaml" in files.get("manifest.yaml", "") and "it.yaml" not in files:
        files = {**files, "it.yaml": component("Tool", "Weather")}
    write(place, files)
    message = refusal(place)
    assert message.startswith(f"{place}/{where}")
    assert expected.replace("{place}", str(place)) in message


def test_a_manifest_that_is_too_large_is_refused(place: Path) -> None:
    (place / "manifest.yaml").write_text("#" * (256 * 1024 + 1))
    assert "manifest.yaml is larger than 262144 bytes" in refusal(place)


@pytest.mark.parametrize("text", ["[" * 200_000, "- " * 100_000, "{a: " * 60_000, "a: " + "[" * 80 + "]" * 80])
def test_a_manifest_that_is_nested_too_deep_is_refused(place: Path, text: str) -> None:
    (place / "manifest.yaml").write_text(text)
    message = refusal(place)
    assert "manifest.yaml:1: this is nested more than 64 levels deep" in message


def test_control_characters_of_a_manifest_are_removed_from_messages(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("hello", '"a\\e[31m\\nb"') + '"\\e[2J": 1\n')
    message = refusal(place)
    assert message.isprintable()
    assert "'a [31m b' can't be part of an identity" in message


def test_a_message_has_a_maximum_length(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("hello", "/" * 100_000))
    assert len(refusal(place)) == 2000


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


GOOD: dict[str, Any] = {
    "apiVersion": "parlour/v1",
    "kind": "Plugin",
    "metadata": {"author": "acme", "name": "hello", "version": "1", "label": {"en_US": "x"}, "icon": "i.svg"},
    "spec": {"components": [], "permissions": {"models": ["invoke"]}, "limits": {"max_runs": 5}},
    "execution": {"python": {"path": "code.py", "attr": "Main"}, "requirements": "code.py"},
}


RUNNER: dict[str, Any] = {
    "apiVersion": "parlour/v1",
    "kind": "AgentRunner",
    "metadata": {"name": "it", "description": {"en_US": "x"}},
    "spec": {
        "capabilities": {"streaming": True},
        "permissions": {"models": ["invoke"]},
        "context": {"bootstrap": "none"},
        "config_schema": [{"name": "x", "label": {"en_US": "x"}, "type": "select", "options": [{"value": "a"}]}],
    },
    "execution": {"python": {"path": "code.py", "attr": "ShortRunner"}},
}


def paths(value: Any, keys: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [keys, *(path for key, each in inner for path in paths(each, (*keys, key)))]


def replaced(value: Any, keys: tuple[Any, ...], by: Any) -> Any:
    if not keys:
        return by
    changed = copy.copy(value)
    changed[keys[0]] = replaced(value[keys[0]], keys[1:], by)
    return changed


@given(st.sampled_from(paths(GOOD)), Json)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_value_in_a_manifest_is_accepted_or_refused_in_one_line(
    place: Path, keys: tuple[Any, ...], value: Any
) -> None:
    (place / "manifest.yaml").write_text(yaml.safe_dump(replaced(GOOD, keys, value)))
    check_accepted_or_refused(place)


@given(st.sampled_from(paths(RUNNER)), Json)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_value_in_a_component_is_accepted_or_refused_in_one_line(
    place: Path, keys: tuple[Any, ...], value: Any
) -> None:
    write(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": yaml.safe_dump(replaced(RUNNER, keys, value))})
    check_accepted_or_refused(place)


def check_accepted_or_refused(place: Path) -> None:
    try:
        plugin = read_plugin(place)
    except PluginInvalid as invalid:
        output = str(invalid)
    else:
        output = "".join(plugin.warnings)
        for fields in plugin.runner_manifests().values():
            AgentRunnerManifest.model_validate(fields)
            json.dumps(fields)
    assert output.isprintable()


def test_a_folder_without_a_manifest_is_refused_with_the_remedy(workshop: Path) -> None:
    assert "a plugin's folder needs one" in refusal(workshop)


def test_a_recursive_yaml_anchor_is_accepted(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest(more="extra: &a {b: *a}\n"))
    assert "extra: an unknown key" in read_plugin(place).warnings[0]


def test_a_date_stays_a_text(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("0.1.0", "2026-01-31"))
    assert read_plugin(place).manifest.metadata.version == "2026-01-31"


def listening(place: Path, events: str) -> LoadedPlugin:
    text = manifest("it.yaml", more=f"  permissions: {{events: [{events}]}}\n")
    return loaded(place, {"manifest.yaml": text, "it.yaml": component("EventListener", "Listener")})


@pytest.mark.parametrize("events", ["message.received", "message.*", "'*'"])
def test_a_handler_of_a_requested_event_has_no_warning(place: Path, events: str) -> None:
    assert listening(place, events).warnings == ()


@pytest.mark.parametrize("events", ["", "message.edited", "group.*"])
def test_a_handler_of_an_event_that_is_not_requested_has_a_warning(place: Path, events: str) -> None:
    assert listening(place, events).warnings == (
        f"{place}/code.py:{line_of('class Listener') + 2}: it.hear will never hear of 'message.received'; "
        "add it to the plugin's permissions.events",
    )


def test_an_unknown_requested_event_has_a_warning(place: Path) -> None:
    [warning] = listening(place, "'*', message.recieved").warnings
    assert warning.startswith(f"{place}/manifest.yaml:6: permissions.events has 'message.recieved', which is no event")
    assert "did you mean message.received" in warning


def test_a_missing_icon_has_a_warning(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("version", "icon: icon.svg, version"))
    [warning] = read_plugin(place).warnings
    assert warning == (
        f"{place}/manifest.yaml:3: metadata.icon names icon.svg, which is not a file here; "
        "the plugin is shown without an icon"
    )

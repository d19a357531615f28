"""Tests that actions, results, events, errors, transitions and limits are exactly those of `tables.yaml`."""

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from parlour_sdk.protocol import limits
from parlour_sdk.protocol.actions import ACTION_NAMES
from parlour_sdk.protocol.component_specs import SPECS
from parlour_sdk.protocol.errors import CODES
from parlour_sdk.protocol.events import ALIASES
from parlour_sdk.protocol.platform_events import EVENTS, PlatformSpecific, event_class, is_event_pattern
from parlour_sdk.protocol.results import FAILURES, PAYLOADS
from parlour_sdk.protocol.runs import TRANSITIONS, RunStatus
from parlour_sdk.protocol.wire_actions import HOST_ACTIONS, PLUGIN_ACTIONS, HostAction, PluginAction

from .contract import CONTRACT

TABLES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "tables.yaml").read_text(encoding="utf-8"))
UNITS = {"KiB": 1024, "MiB": 1024 * 1024}


def _names(table: dict[str, type[BaseModel]]) -> dict[str, str]:
    return {key: entity.__name__ for key, entity in table.items()}


def _line(action: HostAction | PluginAction) -> str:
    request = "nothing" if action.request is None else action.request.__name__
    return f"{request} -> {'stream of ' if action.streams else ''}{action.answer.__name__}"


def test_results_match_the_contract() -> None:
    assert _names(PAYLOADS) == TABLES["results"]
    assert list(FAILURES) == TABLES["failures"]


def test_only_payloads_of_tool_calls_are_lenient() -> None:
    lenient = {kind for kind, name in TABLES["results"].items() if CONTRACT[name].temperament != "strict"}
    assert lenient == {"tool.call.started", "tool.call.completed"}


def test_events_match_the_contract() -> None:
    assert _names(EVENTS) == TABLES["events"]  # type: ignore[arg-type]


def test_actions_of_plugins_match_the_contract() -> None:
    assert {name: _line(action) for name, action in PLUGIN_ACTIONS.items()} == TABLES["towards_plugin"]


@pytest.mark.parametrize("where", ["run", "either", "plugin"])
def test_actions_of_the_host_match_the_contract(where: str) -> None:
    found = {name: _line(action) for name, action in HOST_ACTIONS.items() if action.where == where}
    assert found == TABLES["towards_host"][where]


def test_only_actions_of_runs_require_a_run_id() -> None:
    for name, action in HOST_ACTIONS.items():
        assert action.request.model_fields["run_id"].is_required() == (action.where == "run"), name


def test_requests_of_a_plugin_ignore_unknown_fields() -> None:
    assert {CONTRACT[action.request.__name__].temperament for action in HOST_ACTIONS.values()} == {"request"}


def test_pages_refuse_unknown_fields() -> None:
    pages = [name for name in CONTRACT if name.endswith(("Page", "Keys", "SearchResult", "PullResult"))]
    assert len(pages) > 5
    assert {CONTRACT[name].temperament for name in pages} == {"strict"}


def test_error_codes_match_the_contract() -> None:
    assert list(CODES) == TABLES["errors"]


def test_transitions_of_a_run_match_the_contract() -> None:
    assert {start: " ".join(ends) for start, ends in TRANSITIONS.items()} == TABLES["transitions"]
    assert set(TRANSITIONS) == set(get_args(RunStatus))


def test_names_of_platform_actions_match_the_contract() -> None:
    assert list(ACTION_NAMES) == TABLES["action_names"]


def test_every_kind_of_component_has_a_spec() -> None:
    assert _names(SPECS) == TABLES["component_specs"]
    assert set(SPECS) | {"AgentRunner"} == set(CONTRACT["ComponentManifest"].fields["kind"].kind.names)


def test_limits_match_the_contract() -> None:
    found = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert found == {name: _bytes(written) for name, written in TABLES["limits"].items()}


def _bytes(written: int | str) -> int:
    if isinstance(written, int):
        return written
    number, unit = written.split()
    return int(number) * UNITS[unit]


@pytest.mark.parametrize(("event_type", "entity"), TABLES["events"].items())
def test_an_event_is_found_by_its_type_and_its_patterns(event_type: str, entity: str) -> None:
    found = event_class(event_type)
    assert found is not None
    assert found.__name__ == entity
    assert is_event_pattern(event_type)
    assert is_event_pattern(f"{event_type.split('.')[0]}.*")


def test_message_recalled_is_an_alias_of_message_deleted() -> None:
    assert ALIASES == {"message.recalled": "message.deleted"}
    assert event_class("message.recalled") is event_class("message.deleted")
    assert is_event_pattern("message.recalled")


@pytest.mark.parametrize("event_type", ["platform.telegram.poll", "platform.qq_official.MSG_AUDIT.pass"])
def test_an_event_of_one_platform_is_platform_specific(event_type: str) -> None:
    assert event_class(event_type) is PlatformSpecific
    assert is_event_pattern(event_type)


@pytest.mark.parametrize("pattern", ["*", "platform.*", "platform.telegram.*"])
def test_wildcards_are_valid_patterns(pattern: str) -> None:
    assert is_event_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["", "message", "message.", "*.received", "mesage.*", "platform.telegram", "**", "message.received\n"]
)
def test_a_pattern_that_matches_no_event_is_invalid(pattern: str) -> None:
    assert not is_event_pattern(pattern)
    assert event_class(pattern) is None

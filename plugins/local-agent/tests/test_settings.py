"""Tests settings: the form's names, its defaults, and a sentence for each value that the form can't check."""

from pathlib import Path
from typing import Any

import pytest
from local_agent import settings

from parlour_sdk.agents import TurnError
from parlour_sdk.plugin import read_plugin

FORM = read_plugin(Path(__file__).parents[1]).runner_manifests()["default"]["config_schema"]


def test_the_form_has_exactly_the_fields_of_the_contract() -> None:
    assert [item["name"] for item in FORM] == [
        *("model", "prompt", "guidance", "group_context", "knowledge_bases", "retrieve_top_k", "rerank_model"),
        *("rerank_top_k", "tools", "max_tool_rounds", "context_tokens", "summary_model", "temperature", "max_tokens"),
        *("reasoning_effort", "interim", "thinking", "event_templates", "streaming"),
    ]
    assert all(set(item["label"]) == set(item["description"]) == {"en_US", "zh_Hans"} for item in FORM)


def test_the_forms_defaults_are_those_of_an_empty_configuration() -> None:
    defaults = {item["name"]: item["default"] for item in FORM if item.get("default") is not None}
    assert settings.read({**defaults, "prompt": None}) == settings.read({})
    assert settings.read(defaults).max_tool_rounds == 25


def test_the_models_are_called_in_their_order_and_each_once() -> None:
    chosen = {"primary": "a", "fallbacks": ["b", "a", "c"]}
    assert settings.read({"model": chosen}).models == ("a", "b", "c")
    assert settings.read({"model": {"primary": None, "fallbacks": ["b"]}}).models == ("b",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", "m"),
        ("model", {"primary": 7}),
        ("model", {"primary": "a", "fallbacks": "b"}),
        ("prompt", [{"role": "tool", "content": "x"}]),
        ("prompt", ["x"]),
        ("event_templates", ["x"]),
        ("event_templates", {"group.member_joined": 7}),
        ("retrieve_top_k", 0),
        ("rerank_top_k", 65),
        ("max_tool_rounds", 1001),
        ("context_tokens", "many"),
        ("group_context", {"messages": -1}),
        ("interim", "some"),
        ("temperature", 3),
        ("reasoning_effort", "most"),
    ],
)
def test_an_invalid_setting_is_named_with_the_accepted_values(name: str, value: Any) -> None:
    with pytest.raises(TurnError, match=rf"^The agent's setting '{name}' must be .*\.$") as failure:
        settings.read({name: value})
    assert failure.value.to_result("local-agent").data["code"] == "local-agent.configuration"

from typing import Literal, get_args, get_origin

import pytest

from parlour.core.access.permission_text import PERMISSION_TEXTS, describe_permissions
from parlour_sdk.protocol.manifest import PluginPermissions


def everything() -> dict[str, list[str]]:
    """Every literal of the contract, by key."""
    named: dict[str, list[str]] = {}
    for key, field in PluginPermissions.model_fields.items():
        (item,) = get_args(field.annotation)
        if get_origin(item) is Literal:
            named[key] = list(get_args(item))
    return named


@pytest.mark.parametrize(("key", "name"), [(key, name) for key, names in everything().items() for name in names])
def test_each_permission_of_the_contract_has_words_of_its_own(key: str, name: str) -> None:
    asked = PluginPermissions.model_validate({key: [name]})

    [sentence] = describe_permissions(asked, sandboxed=True)

    assert (sentence.key, sentence.values) == (f"{key}.{name}", {})
    assert [text for text in PERMISSION_TEXTS.values() if text == sentence.text] == [sentence.text]


def test_a_plugin_in_the_sandbox_that_asks_for_nothing_may_do_nothing() -> None:
    assert describe_permissions(PluginPermissions(), sandboxed=True) == []


def test_a_plugin_without_a_sandbox_is_said_to_have_what_it_never_asked_for() -> None:
    assert [each.key for each in describe_permissions(PluginPermissions(), sandboxed=False)] == ["no_sandbox"]


def test_the_hosts_asked_for_are_named_and_that_the_sandbox_does_not_keep_to_them() -> None:
    asked = PluginPermissions(network=["api.example.org", "example.net", "api.example.org"])

    [sentence] = describe_permissions(asked, sandboxed=True)

    assert (sentence.key, sentence.values) == ("network.unfiltered", {"hosts": "api.example.org, example.net"})
    assert sentence.text.startswith("reach api.example.org, example.net over the network")
    assert "whole network" in sentence.text


def test_events_are_named_in_one_sentence() -> None:
    [some] = describe_permissions(PluginPermissions(events=["message.received", "group.joined"]), sandboxed=True)
    [every] = describe_permissions(PluginPermissions(events=["message.received", "*"]), sandboxed=True)

    assert some.text == "see these events: message.received, group.joined"
    assert every.key == "events.all"


def test_a_permission_named_twice_is_said_once() -> None:
    assert len(describe_permissions(PluginPermissions(tools=["call", "call"]), sandboxed=True)) == 1

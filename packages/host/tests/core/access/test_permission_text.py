from typing import Literal, get_args, get_origin

import pytest

from parlour.core.access.permission_text import PERMISSION_TEXTS, describe_permissions
from parlour_sdk.protocol.manifest import PluginPermissions


def literals_by_permission_key() -> dict[str, list[str]]:
    """Returns every literal of the contract by its permission key."""
    named: dict[str, list[str]] = {}
    for key, field in PluginPermissions.model_fields.items():
        (item,) = get_args(field.annotation)
        if get_origin(item) is Literal:
            named[key] = list(get_args(item))
    return named


@pytest.mark.parametrize(
    ("key", "name"), [(key, name) for key, names in literals_by_permission_key().items() for name in names]
)
def test_each_permission_has_its_own_text(key: str, name: str) -> None:
    requested = PluginPermissions.model_validate({key: [name]})

    [sentence] = describe_permissions(requested, sandboxed=True)

    assert (sentence.key, sentence.values) == (f"{key}.{name}", {})
    assert [text for text in PERMISSION_TEXTS.values() if text == sentence.text] == [sentence.text]


def test_sandboxed_plugin_without_requests_has_no_permissions() -> None:
    assert describe_permissions(PluginPermissions(), sandboxed=True) == []


def test_plugin_without_sandbox_is_described_as_such() -> None:
    assert [each.key for each in describe_permissions(PluginPermissions(), sandboxed=False)] == ["no_sandbox"]


def test_network_text_names_the_hosts_and_that_the_network_is_unfiltered() -> None:
    requested = PluginPermissions(network=["api.example.org", "example.net", "api.example.org"])

    [sentence] = describe_permissions(requested, sandboxed=True)

    assert (sentence.key, sentence.values) == ("network.unfiltered", {"hosts": "api.example.org, example.net"})
    assert sentence.text.startswith("reach api.example.org, example.net over the network")
    assert "whole network" in sentence.text


def test_event_permissions_are_one_sentence() -> None:
    [some] = describe_permissions(PluginPermissions(events=["message.received", "group.joined"]), sandboxed=True)
    [every] = describe_permissions(PluginPermissions(events=["message.received", "*"]), sandboxed=True)

    [seen, path] = describe_permissions(
        PluginPermissions(events=["message.received", "reply.preparing"]), sandboxed=True
    )
    assert (seen.key, path.key, path.values) == ("events.some", "events.path", {"events": "reply.preparing"})
    assert some.text == "see these events: message.received, group.joined"
    assert every.key == "events.all"


def test_duplicate_permission_is_described_once() -> None:
    assert len(describe_permissions(PluginPermissions(tools=["call", "call"]), sandboxed=True)) == 1

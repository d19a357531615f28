"""Permissions that a plugin gets out of those it requests."""

import pytest

from parlour.plugin_runtime import permissions
from parlour_sdk.plugin import PluginInvalid

REQUESTED = {"models": ["invoke", "stream"], "network": ["api.example.org", "localhost:8080"]}


@pytest.mark.parametrize(
    ("items", "granted"),
    [
        ([], {}),
        (["models"], {"models": ["invoke", "stream"]}),
        (["models:stream"], {"models": ["stream"]}),
        (["models:stream", "models"], {"models": ["invoke", "stream"]}),
        (["network:localhost:8080"], {"network": ["localhost:8080"]}),
        ([" models ", "network"], REQUESTED),
    ],
)
def test_a_key_grants_all_its_requested_values_and_a_value_grants_only_itself(
    items: list[str], granted: dict[str, list[str]]
) -> None:
    assert permissions.parse_permissions(items, REQUESTED) == granted


@pytest.mark.parametrize("item", ["storage", "models:embed", "network:evil.example", "", "all"])
def test_a_permission_that_is_not_requested_is_refused_and_the_requested_ones_are_named(item: str) -> None:
    with pytest.raises(PluginInvalid, match=r"models:invoke, models:stream, network:api\.example\.org"):
        permissions.parse_permissions([item], REQUESTED)


def test_an_upgrade_keeps_granted_permissions_that_are_still_requested() -> None:
    before = {"models": ["invoke", "embed"], "storage": ["plugin"]}

    assert permissions.intersect(before, REQUESTED) == {"models": ["invoke"]}
    assert permissions.missing(before, REQUESTED) == {"models": ["stream"], "network": REQUESTED["network"]}

"""What a plugin gets of what it asks for."""

import pytest

from parlour.plugin_runtime import permissions
from parlour_sdk.plugin import PluginInvalid

ASKED = {"models": ["invoke", "stream"], "network": ["api.example.org", "localhost:8080"]}


@pytest.mark.parametrize(
    ("items", "granted"),
    [
        ([], {}),
        (["models"], {"models": ["invoke", "stream"]}),
        (["models:stream"], {"models": ["stream"]}),
        (["models:stream", "models"], {"models": ["invoke", "stream"]}),
        (["network:localhost:8080"], {"network": ["localhost:8080"]}),
        ([" models ", "network"], ASKED),
    ],
)
def test_a_key_grants_all_that_is_asked_under_it_and_a_value_only_itself(
    items: list[str], granted: dict[str, list[str]]
) -> None:
    assert permissions.parse_permissions(items, ASKED) == granted


@pytest.mark.parametrize("item", ["storage", "models:embed", "network:evil.example", "", "all"])
def test_nothing_is_granted_that_is_not_asked_for_and_the_refusal_says_what_is(item: str) -> None:
    with pytest.raises(PluginInvalid, match=r"models:invoke, models:stream, network:api\.example\.org"):
        permissions.parse_permissions([item], ASKED)


def test_what_stays_after_an_upgrade_is_what_was_granted_and_is_still_asked() -> None:
    before = {"models": ["invoke", "embed"], "storage": ["plugin"]}

    assert permissions.intersect(before, ASKED) == {"models": ["invoke"]}
    assert permissions.missing(before, ASKED) == {"models": ["stream"], "network": ASKED["network"]}

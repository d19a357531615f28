"""Advice for packages that can't be installed."""

import pytest

from parlour.plugin_runtime.environments.environment import EnvironmentFailed
from parlour.plugin_runtime.install_hints import with_hint

UNREACHABLE = [
    "error: Request failed after 3 retries in 10.7s",
    "  cause: Failed to fetch: http://user:secret@127.0.0.1:9/simple/six/",
    "  cause: client error (Connect)",
    "  cause: Connection refused (os error 111)",
]


@pytest.mark.parametrize("quote", ["", "`", "'"])
def test_an_index_that_does_not_answer_is_named_without_its_password(quote: str) -> None:
    address = "http://user:secret@127.0.0.1:9/simple/six/"
    lines = [line.replace(address, f"{quote}{address}{quote}") for line in UNREACHABLE]

    message = with_hint(EnvironmentFailed("can't be installed: Connection refused (os error 111)"), lines)

    assert message.startswith("can't be installed: Connection refused (os error 111); http://127.0.0.1:9/simple/six/ ")
    assert "could not be fetched: let this machine reach it, or name another index with uv's variable" in message
    assert "secret" not in message


@pytest.mark.parametrize(
    "reason",
    [
        "because six-seven was not found in the package registry",
        "Because there is no version of six==99 and you require six==99",
        "we can conclude that your requirements are unsatisfiable",
    ],
)
def test_a_missing_package_has_advice_to_correct_it_or_add_an_index(reason: str) -> None:
    assert with_hint(EnvironmentFailed(reason), []) == (
        f"{reason}; correct the plugin's requirements, or name an index that has the package with "
        "uv's variable UV_DEFAULT_INDEX where Parlour runs"
    )


def test_a_reason_that_names_its_remedy_is_unchanged() -> None:
    reason = "its environment was not built within 5 s; the setting plugins.environment_seconds gives it more time"

    assert with_hint(EnvironmentFailed(reason), ["a line"]) == reason

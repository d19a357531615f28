"""Notices to users: codes of the Host have a text, and failures of a runner keep their own."""

import pytest

from parlour.core.delivery.notices import notice_text

CODES = [
    "interrupted",
    "runner.timeout",
    "runner.no_output",
    "runner.crashed",
    "runner.unavailable",
    "quarantined",
    "misconfigured",
    "expired",
    "delivery.unknown",
    "delivery.refused",
]


@pytest.mark.parametrize("code", CODES)
def test_code_of_the_host_has_a_text_without_internals(code: str) -> None:
    text = notice_text(code, "Traceback: plugin:acme/puppet")
    assert text.endswith(".")
    assert "acme" not in text
    assert "runner." not in text


def test_each_code_has_its_own_text() -> None:
    assert len({notice_text(code) for code in CODES}) == len(CODES)


def test_failure_of_a_runner_keeps_its_text() -> None:
    assert notice_text("weather.no_station", "There is no station near you.") == "There is no station near you."


def test_failure_without_a_text_gets_a_generic_one() -> None:
    assert notice_text("weather.no_station") == "The agent failed and gave no reason."

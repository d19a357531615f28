"""What people are told: the Host's codes have a sentence, a runner's own failure speaks for itself."""

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
def test_a_code_of_the_host_has_a_sentence_without_internals(code: str) -> None:
    told = notice_text(code, "Traceback: plugin:acme/puppet")
    assert told.endswith(".")
    assert "acme" not in told
    assert "runner." not in told


def test_each_code_is_told_apart() -> None:
    assert len({notice_text(code) for code in CODES}) == len(CODES)


def test_a_runners_own_failure_is_told_in_its_words() -> None:
    assert notice_text("weather.no_station", "There is no station near you.") == "There is no station near you."


def test_a_failure_without_words_is_still_told() -> None:
    assert notice_text("weather.no_station") == "The agent failed and gave no reason."

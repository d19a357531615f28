"""What a run used, and the calls of which nobody learns what they used."""

import pytest

from parlour.core.runs.usage import RunMeter
from parlour_sdk.protocol.usage import Usage

USED = Usage(prompt_tokens=7, completion_tokens=2, cost_micros=40)
CUT_OFF = ("model.called", {"name": "large", "outcome": "cut_off"})


def asking(*names: str) -> RunMeter:
    meter = RunMeter()
    for name in names:
        meter.start_call("model", name)
    return meter


def test_models_that_are_being_asked_are_named_until_they_have_answered() -> None:
    meter = asking("small", "large", "large")
    assert meter.usage({}) == {"model_calls": 3, "calling": ["small", "large", "large"]}
    for name in ("large", "small", "large"):
        meter.end_call("model", name, "answered", 5, USED)
    assert meter.usage({}) == {"model_calls": 3, "prompt_tokens": 21, "completion_tokens": 6, "cost_micros": 120}


def test_tools_are_counted_and_not_named() -> None:
    meter = RunMeter()
    meter.start_call("tool", "clock")
    assert meter.usage({}) == {"tool_calls": 1}


@pytest.mark.parametrize("outcome", ["abandoned", "provider_timeout", "stream_cut"])
def test_a_call_that_the_service_may_charge_all_the_same_has_an_unknown_price(outcome: str) -> None:
    meter = asking("large", "large")
    meter.end_call("model", "large", outcome, 5, None)
    meter.end_call("model", "large", "key_refused", 5, None)
    assert meter.usage({}) == {"model_calls": 2, "unpriced_calls": 1}


def test_what_is_still_being_asked_when_a_run_ends_has_an_unknown_price_and_is_told_once() -> None:
    meter = asking("large")
    meter.close_open_calls()
    meter.end_call("model", "large", "cancelled", 5, None)
    assert meter.usage({}) == {"model_calls": 1, "unpriced_calls": 1}
    assert meter.drain_events() == [CUT_OFF]


def test_what_another_life_of_the_host_was_asking_was_cut_off() -> None:
    meter = RunMeter()
    meter.resume({"model_calls": 2, "cost_micros": 40, "calling": ["large"]})
    assert meter.usage({}) == {"model_calls": 2, "cost_micros": 40, "unpriced_calls": 1}
    assert meter.drain_events() == [CUT_OFF]

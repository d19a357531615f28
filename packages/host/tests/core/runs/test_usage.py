"""Usage of a run, and model calls whose usage stays unknown."""

import pytest

from parlour.core.runs.usage import RunMeter
from parlour_sdk.protocol.usage import Usage

USED = Usage(prompt_tokens=7, completion_tokens=2, cost_micros=40)
CUT_OFF = ("model.called", {"name": "large", "outcome": "cut_off"})


def meter_with_calls(*names: str) -> RunMeter:
    run_meter = RunMeter()
    for name in names:
        run_meter.start_call("model", name)
    return run_meter


def test_pending_models_are_listed_until_they_answer() -> None:
    run_meter = meter_with_calls("small", "large", "large")
    assert run_meter.usage({}) == {"model_calls": 3, "calling": ["small", "large", "large"]}
    for name in ("large", "small", "large"):
        run_meter.end_call("model", name, "answered", 5, USED)
    assert run_meter.usage({}) == {"model_calls": 3, "prompt_tokens": 21, "completion_tokens": 6, "cost_micros": 120}


def test_tool_calls_are_counted_without_names() -> None:
    run_meter = RunMeter()
    run_meter.start_call("tool", "clock")
    assert run_meter.usage({}) == {"tool_calls": 1}


@pytest.mark.parametrize("outcome", ["abandoned", "provider_timeout", "stream_cut"])
def test_call_that_may_be_charged_is_unpriced(outcome: str) -> None:
    run_meter = meter_with_calls("large", "large")
    run_meter.end_call("model", "large", outcome, 5, None)
    run_meter.end_call("model", "large", "key_refused", 5, None)
    assert run_meter.usage({}) == {"model_calls": 2, "unpriced_calls": 1}


def test_pending_call_at_the_end_of_a_run_is_unpriced_and_recorded_once() -> None:
    run_meter = meter_with_calls("large")
    run_meter.close_open_calls()
    run_meter.end_call("model", "large", "cancelled", 5, None)
    assert run_meter.usage({}) == {"model_calls": 1, "unpriced_calls": 1}
    assert run_meter.drain_events() == [CUT_OFF]


def test_pending_call_of_a_crashed_host_was_cut_off() -> None:
    run_meter = RunMeter()
    run_meter.resume({"model_calls": 2, "cost_micros": 40, "calling": ["large"]})
    assert run_meter.usage({}) == {"model_calls": 2, "cost_micros": 40, "unpriced_calls": 1}
    assert run_meter.drain_events() == [CUT_OFF]

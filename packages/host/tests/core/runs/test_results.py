"""Raw results become effects: at most once, in stream order, strictly validated if they have an effect."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parlour.core.runs.results import (
    CompletedMessage,
    Delta,
    Effect,
    FinalResult,
    GenericResult,
    InvalidResult,
    ResultParser,
    StateWrite,
)
from parlour_sdk.protocol.limits import LARGEST_INTEGER, MESSAGE_TEXT_BYTES, RESULT_BYTES
from parlour_sdk.protocol.results import PAYLOADS
from parlour_sdk.protocol.rules.results import MAX_TRACKED_GAPS, truncate_message

RUN = "run"


class Reader:
    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._rules = ResultParser(RUN, self.warnings.append)

    def take(self, kind: str, data: Any, sequence: int | None = None, run_id: str = RUN) -> Effect:
        raw: dict[str, Any] = {"run_id": run_id, "type": kind, "data": data}
        return self._rules.parse(raw if sequence is None else {**raw, "sequence": sequence})

    def raw(self, value: Any) -> Effect:
        return self._rules.parse(value)


def chunk(text: str) -> dict[str, Any]:
    return {"chunk": {"role": "assistant", "content": text}}


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
types = st.sampled_from([*PAYLOADS, "unknown.type", ""])
payloads = st.one_of(
    json_values,
    st.text(max_size=8).map(chunk),
    st.text(max_size=8).map(lambda text: {"message": {"role": "assistant", "content": text}}),
    st.just({"finish_reason": "stop"}),
    st.just({"code": "a.b", "error": "it broke"}),
    st.builds(lambda value: {"scope": "conversation", "key": "k", "value": value}, json_values),
)
envelopes = st.fixed_dictionaries(
    {"run_id": st.sampled_from([RUN, RUN, RUN, "other"]), "type": types, "data": payloads},
    optional={"sequence": st.integers(-1, 12) | scalars, "timestamp": scalars, "extra": scalars},
)


@given(st.lists(st.one_of(json_values, envelopes), max_size=20))
@example([{"run_id": RUN, "type": "message.delta", "data": chunk("a"), "sequence": 10**30}])
def test_no_input_raises(raw: list[Any]) -> None:
    reader = Reader()
    for each in raw:
        effect = reader.raw(each)
        assert isinstance(effect, Delta | CompletedMessage | GenericResult | StateWrite | FinalResult | InvalidResult)


@given(st.lists(st.integers(1, 12), max_size=40))
def test_each_sequence_number_has_one_effect_in_order(numbers: list[int]) -> None:
    reader = Reader()
    applied = [number for number in numbers if isinstance(reader.take("message.delta", chunk("x"), number), Delta)]
    assert applied == list(dict.fromkeys(numbers))


@given(st.lists(st.integers(1, 12), max_size=40))
def test_each_gap_and_inversion_causes_a_warning(numbers: list[int]) -> None:
    reader = Reader()
    highest, seen, expected = 0, set(), 0
    for number in numbers:
        reader.take("message.delta", chunk("x"), number)
        if number not in seen and number != highest + 1:
            expected += 1
        seen.add(number)
        highest = max(highest, number)
    assert len(reader.warnings) == expected


def test_results_without_numbers_are_numbered_in_stream_order() -> None:
    reader = Reader()
    effects = [reader.take("message.delta", chunk(text)) for text in "abc"]
    assert effects == [Delta("a", 1), Delta("b", 2), Delta("c", 3)]
    assert reader.warnings == []


@given(types, payloads)
def test_explicit_and_implicit_numbers_have_the_same_effect(kind: str, data: Any) -> None:
    assert Reader().take(kind, data, 1) == Reader().take(kind, data)


def test_number_after_the_largest_is_invalid() -> None:
    reader = Reader()
    assert reader.take("message.delta", chunk("a"), LARGEST_INTEGER) == Delta("a", LARGEST_INTEGER)
    assert isinstance(reader.take("message.delta", chunk("b"), LARGEST_INTEGER + 1), InvalidResult)


def test_repeated_number_is_dropped_with_a_warning() -> None:
    reader = Reader()
    reader.take("message.delta", chunk("a"), 1)
    assert reader.take("message.delta", chunk("a"), 1) == InvalidResult("result 1 came again")


def test_gap_is_reported_and_not_waited_for() -> None:
    reader = Reader()
    assert reader.take("message.delta", chunk("a"), 4) == Delta("a", 4)
    assert reader.warnings == ["results 1 to 3 are missing"]


def test_late_result_counts_with_a_warning() -> None:
    reader = Reader()
    reader.take("message.delta", chunk("b"), 2)
    assert reader.take("message.delta", chunk("a"), 1) == Delta("a", 1)
    assert reader.warnings[-1] == "result 1 came after 2"


def test_huge_gap_uses_bounded_memory() -> None:
    reader = Reader()
    reader.take("message.delta", chunk("a"), 2**50)
    assert isinstance(reader.take("message.delta", chunk("b"), MAX_TRACKED_GAPS), Delta)
    assert isinstance(reader.take("message.delta", chunk("b"), MAX_TRACKED_GAPS + 1), InvalidResult)


def test_too_large_number_is_refused() -> None:
    assert isinstance(Reader().take("message.delta", chunk("a"), 2**63), InvalidResult)


def test_result_of_another_run_uses_no_number() -> None:
    reader = Reader()
    assert isinstance(reader.take("message.delta", chunk("a"), 1, run_id="other"), InvalidResult)
    assert reader.take("message.delta", chunk("b"), 1) == Delta("b", 1)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("message.delta", {"chunk": {"role": "assistant", "content": "a"}, "extra": 1}),
        ("message.delta", {"chunk": {"role": "assistant", "content": 5}}),
        ("message.completed", {"message": {"role": "robot", "content": "a"}}),
        ("message.completed", {"message": "a"}),
        ("message.completed", {"message": {"role": "assistant", "content": [{"type": "image", "name": "no source"}]}}),
        ("artifact.created", {"artifact_type": "file", "size_bytes": "12"}),
        ("state.updated", {"scope": "galaxy", "key": "k", "value": 1}),
        ("state.updated", {"scope": "actor", "key": "", "value": 1}),
        ("state.updated", {"scope": "actor", "key": "k" * 256, "value": 1}),
        ("action.requested", {"action": "message.send", "target": "everyone"}),
        ("run.completed", {"finish_reason": "tired"}),
        ("run.completed", {"usage": {"prompt_tokens": "9"}}),
        ("run.failed", {"error": "no code"}),
        ("run.failed", {"code": "a", "error": "b", "retryable": "yes"}),
    ],
)
def test_invalid_payload_with_effects_is_dropped_with_its_field(kind: str, data: Any) -> None:
    effect = Reader().take(kind, data)
    assert isinstance(effect, InvalidResult)
    assert effect.warning.startswith(f"result 1 ({kind}) is dropped: ")
    assert len(effect.warning.split(": ")) >= 3


def test_first_of_many_invalid_elements_is_named() -> None:
    broken = {"message": {"role": "assistant", "content": [{"type": "text", "text": "fine"}, *[{}] * 10_000]}}

    effect = Reader().take("message.completed", broken)

    assert isinstance(effect, InvalidResult)
    assert "message.content.elements.1: " in effect.warning


def test_many_unknown_fields_are_counted() -> None:
    assert Reader().take("state.updated", {str(number): 0 for number in range(10_000)}, 1) == InvalidResult(
        "result 1 (state.updated) is dropped: it has 10000 fields"
    )


def test_telemetry_accepts_unknown_fields() -> None:
    data = {"tool_call_id": "1", "tool_name": "look", "progress": 0.5}
    assert Reader().take("tool.call.started", data) == GenericResult("tool.call.started", data, 1)


def test_unknown_type_is_kept_as_generic_result() -> None:
    assert Reader().take("mood.changed", {"to": "better"}) == GenericResult("mood.changed", {"to": "better"}, 1)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("mood.changed", {"to": "x" * RESULT_BYTES}),
        ("tool.call.completed", {"tool_call_id": "1", "tool_name": "look", "result": "x" * RESULT_BYTES}),
        ("state.updated", {"scope": "actor", "key": "k", "value": "x" * RESULT_BYTES}),
    ],
)
def test_result_over_its_limit_is_refused_with_the_limit(kind: str, data: Any) -> None:
    effect = Reader().take(kind, data)
    assert isinstance(effect, InvalidResult)
    assert str(RESULT_BYTES) in effect.warning


def test_completed_message_keeps_its_elements_and_text() -> None:
    content = [{"type": "text", "text": "see "}, {"type": "json", "value": 1}, {"type": "text", "text": "this"}]
    effect = Reader().take("message.completed", {"message": {"role": "assistant", "content": content}})
    assert isinstance(effect, CompletedMessage)
    assert effect.text == "see this"
    assert effect.message["content"] == content


def test_silent_end_is_recognized() -> None:
    effect = Reader().take("run.completed", {"finish_reason": "silent"})
    assert isinstance(effect, FinalResult)
    assert effect.termination.silent
    assert effect.termination.status == "completed"


def test_failure_keeps_its_code_and_retryable_flag() -> None:
    effect = Reader().take("run.failed", {"code": "puppet.sad", "error": "no strings", "retryable": True})
    assert isinstance(effect, FinalResult)
    assert (effect.termination.status, effect.termination.code, effect.termination.retryable) == (
        "failed",
        "puppet.sad",
        True,
    )


def test_usage_is_kept_with_the_final_result() -> None:
    effect = Reader().take("run.completed", {"usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    assert isinstance(effect, FinalResult)
    assert effect.termination.usage == {"prompt_tokens": 3, "completion_tokens": 4}


@given(st.text(max_size=50), st.integers(0, 3))
def test_preview_is_the_start_of_a_too_long_text(text: str, characters: int) -> None:
    whole = text + "\U0001f600" * (MESSAGE_TEXT_BYTES // 4 + characters)
    shown, cut = truncate_message(whole)
    assert whole.startswith(shown)
    assert len(shown.encode()) <= MESSAGE_TEXT_BYTES
    assert cut == (len(whole.encode()) > MESSAGE_TEXT_BYTES)


def test_text_within_the_limit_is_unchanged() -> None:
    assert truncate_message("x" * MESSAGE_TEXT_BYTES) == ("x" * MESSAGE_TEXT_BYTES, False)

"""Tests that the fake Host and the real Host accept the same results."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.runs import results as host_rules
from parlour_sdk.protocol.limits import RESULT_BYTES
from parlour_sdk.protocol.results import ArtifactCreated
from parlour_sdk.protocol.rules.results import ResultDropped, ResultSequence, artifact_content, parse_payload

message = st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "user", "nobody"]), "content": st.text(max_size=5)},
    optional={"colour": st.just("red"), "name": st.text(max_size=3) | st.integers()},
)
DATA: dict[str, Any] = {
    "message.delta": st.fixed_dictionaries({"chunk": message}),
    "message.completed": st.fixed_dictionaries({"message": message}),
    "run.completed": st.fixed_dictionaries(
        {"finish_reason": st.sampled_from(["stop", "silent", "never"])}, optional={"message": message}
    ),
    "run.failed": st.fixed_dictionaries({"code": st.text(max_size=3), "error": st.text(max_size=3)}),
    "state.updated": st.fixed_dictionaries(
        {"scope": st.sampled_from(["actor", "moon"]), "key": st.text(max_size=3), "value": st.integers()}
    ),
    "tool.call.started": st.fixed_dictionaries({"tool_call_id": st.text(max_size=2), "tool_name": st.just("t")}),
    "artifact.created": st.fixed_dictionaries(
        {"artifact_type": st.just("file")},
        optional={"artifact_id": st.just("kept"), "content_base64": st.sampled_from(["", "aGk=", "é", "no base64"])},
    ),
    "moon.rose": st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
}


@st.composite
def raw_results(draw: st.DrawFn) -> list[Any]:
    raw = []
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(sorted(DATA)))
        result = {
            "run_id": draw(st.sampled_from(["run", "run", "run", "other"])),
            "type": kind,
            "data": draw(DATA[kind]),
        }
        sequence = draw(st.none() | st.integers(0, 6))
        raw.append(result if sequence is None else {**result, "sequence": sequence})
    return raw


def accepted_by_fake_host(sequence: ResultSequence, raw: Any) -> bool:
    """Tells if the fake Host accepts the result."""
    try:
        result, number = sequence.accept(raw)
        payload = parse_payload(result.type, result.data, number)
        if isinstance(payload, ArtifactCreated):
            artifact_content(payload, number)
    except ResultDropped:
        return False
    return True


@settings(deadline=None)
@given(raw_results())
def test_a_result_is_accepted_by_the_fake_host_if_the_real_host_accepts_it(raw: list[Any]) -> None:
    real, fake = host_rules.ResultParser("run", lambda _: None), ResultSequence("run", lambda _: None)
    for result in raw:
        effect = real.parse(result)
        assert accepted_by_fake_host(fake, result) == (not isinstance(effect, host_rules.InvalidResult)), (
            result,
            effect,
        )


@pytest.mark.parametrize("size", [RESULT_BYTES - 100, RESULT_BYTES + 1])
@pytest.mark.parametrize("kind", ["state.updated", "tool.call.completed", "moon.rose"])
def test_the_size_limits_of_fake_and_real_host_are_equal(kind: str, size: int) -> None:
    text = "x" * size
    data = {
        "state.updated": {"scope": "actor", "key": "k", "value": text},
        "tool.call.completed": {"tool_call_id": "1", "tool_name": "t", "result": text},
        "moon.rose": {"text": text},
    }[kind]
    raw = {"run_id": "run", "type": kind, "data": data, "sequence": 1}
    ignored = isinstance(host_rules.ResultParser("run", lambda _: None).parse(raw), host_rules.InvalidResult)
    assert accepted_by_fake_host(ResultSequence("run", lambda _: None), raw) == (not ignored)

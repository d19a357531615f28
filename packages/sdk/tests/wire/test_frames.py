"""Tests the codec: frames survive a round trip, and no bytes crash it or take long to decode."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour_sdk.wire.errors import FrameTooLarge, MalformedFrame, WireError
from parlour_sdk.wire.frames import (
    Frame,
    WireCancel,
    WireCredit,
    WirePart,
    WireRequest,
    WireResponse,
    decode,
    encode_cancel,
    encode_credit,
    encode_end,
    encode_error,
    encode_part,
    encode_request,
    encode_response,
)
from parlour_sdk.wire.limits import DEFAULT_LIMITS, WireLimits

# JSON text holds no half of a surrogate pair.
texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=30,
)
seq_ids = st.integers(0, 2**53 - 1)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=256)


def encode(frame: Frame) -> bytes:
    match frame:
        case WireRequest():
            return encode_request(frame.seq_id, frame.action, frame.data, DEFAULT_LIMITS)
        case WireResponse(code=str() as code):
            return encode_error(frame.seq_id, WireError(code, frame.message, frame.data), DEFAULT_LIMITS)
        case WireResponse():
            return encode_response(frame.seq_id, frame.data, DEFAULT_LIMITS)
        case WirePart(end=True):
            return encode_end(frame.seq_id)
        case WirePart():
            return encode_part(frame.seq_id, frame.data, DEFAULT_LIMITS)
        case WireCredit():
            return encode_credit(frame.seq_id, frame.n)
        case WireCancel():
            return encode_cancel(frame.seq_id)


frames = st.one_of(
    st.builds(WireRequest, seq_ids, names, values),
    st.builds(WireResponse, seq_ids, st.just(0), st.just(""), values),
    st.builds(WireResponse, seq_ids, names, texts, values),
    st.builds(WirePart, seq_ids, values, st.just(False)),
    st.builds(WirePart, seq_ids, st.none(), st.just(True)),
    st.builds(WireCredit, seq_ids, st.integers(1, 2**53 - 1)),
    st.builds(WireCancel, seq_ids),
)


@given(frames)
def test_every_frame_is_unchanged_after_a_round_trip(frame: Frame) -> None:
    encoded = encode(frame)
    assert b"\n" not in encoded
    assert decode(encoded, DEFAULT_LIMITS) == frame


@given(frames)
def test_depth_and_elements_are_counted_exactly(frame: Frame) -> None:
    encoded = encode(frame)
    counts = _Count()
    counts.visit(json.loads(encoded), 1)
    exact = replace(DEFAULT_LIMITS, max_depth=counts.depth, max_elements=max(1, counts.elements))
    assert decode(encoded, exact) == frame
    with pytest.raises(MalformedFrame):
        decode(encoded, replace(DEFAULT_LIMITS, max_depth=counts.depth - 1))


class _Count:
    """Counts depth and elements of decoded JSON, as the codec does on bytes."""

    def __init__(self) -> None:
        self.depth = 0
        self.elements = 0

    def visit(self, value: Any, depth: int) -> None:
        if isinstance(value, dict | list):
            self.depth = max(self.depth, depth)
            self.elements += 1 + max(0, len(value) - 1)
            for inner in value.values() if isinstance(value, dict) else value:
                self.visit(inner, depth + 1)


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()))
def test_arbitrary_bytes_are_a_frame_or_malformed(frame: bytes) -> None:
    for limits in (DEFAULT_LIMITS, WireLimits(max_depth=1, max_elements=1)):
        try:
            decoded = decode(frame, limits)
        except MalformedFrame:
            continue
        assert isinstance(decoded, Frame)


@given(
    st.dictionaries(
        st.sampled_from(["seq_id", "action", "data", "code", "message", "chunk_status", "credit", "cancel", "n", "x"]),
        values | st.sampled_from([0, 1, "continue", "end", True]),
    )
)
def test_arbitrary_fields_are_a_frame_or_malformed(fields: dict[str, Any]) -> None:
    refused: MalformedFrame | None = None
    try:
        decode(json.dumps(fields).encode(), DEFAULT_LIMITS)
    except MalformedFrame as error:
        refused = error
    if refused is not None:
        usable = type(fields.get("seq_id")) is int and 0 <= fields["seq_id"] < 2**53
        assert (refused.seq_id is not None) == usable
        assert refused.is_request == (usable and "action" in fields)


@pytest.mark.parametrize(
    "frame",
    [
        b"[" * 2_000_000,
        b'{"a":' * 400_000,
        b"[" * 1_000_000 + b"]" * 1_000_000,
        b"[" + b"[]," * 600_000 + b"[]]",
        b"[" + b"0," * 1_000_000 + b"0]",
        b"{" + b'"":"",' * 300_000 + b'"":""}',
        b'"' * 2_000_000,
        b'["' + b'\\"' * 900_000 + b'",' + b"[" * 100 + b"]" * 101,
        b"\\" * 2_000_000,
        b" " * 2_000_000,
        b"{" * 100 + b'"\\\\' * 400_000,
    ],
    ids=lambda frame: repr(frame[:6]),
)
def test_expensive_frames_are_refused_quickly(frame: bytes) -> None:
    costs = []
    for _ in range(3):
        started = time.process_time()
        with pytest.raises(MalformedFrame):
            decode(frame, DEFAULT_LIMITS)
        costs.append(time.process_time() - started)
    assert min(costs) < 0.15


def test_brackets_and_commas_in_strings_are_not_counted() -> None:
    text = '[{,"\\' * 200_000
    assert decode(encode_request(1, "send", text, DEFAULT_LIMITS), DEFAULT_LIMITS) == WireRequest(1, "send", text)


def test_a_frame_over_the_size_limit_is_not_parsed() -> None:
    frame = encode_request(1, "send", "x" * 200, DEFAULT_LIMITS)
    with pytest.raises(FrameTooLarge, match="at most 100 bytes") as raised:
        decode(frame, WireLimits(frame_bytes=100))
    assert raised.value.seq_id is None


def test_the_error_of_an_unreadable_frame_has_its_sequence_id() -> None:
    for head, is_request in ((b'"action":"x"', True), (b'"code":0', False)):
        with pytest.raises(MalformedFrame) as raised:
            decode(b'{"seq_id":17,' + head + b',"data":[}', DEFAULT_LIMITS)
        assert (raised.value.seq_id, raised.value.is_request) == (17, is_request)


def test_nan_and_infinity_are_sent_as_null() -> None:
    assert json.loads(encode_response(1, [float("nan"), float("inf")], DEFAULT_LIMITS))["data"] == [None, None]


def test_a_frame_over_the_limit_is_not_encoded() -> None:
    with pytest.raises(WireError) as raised:
        encode_part(1, "x" * 200, WireLimits(frame_bytes=100))
    assert raised.value.code == "payload_too_large"

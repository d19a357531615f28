"""Tests the codec of the binary frames against Hypothesis, and against bytes that are no frame."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.platforms.lark.frames import CONTROL, DATA, FrameInvalid, LarkFrame, decode_frame
from parlour.testing.lark_simulator.connection import read_frame, write_frame

TEXTS = st.text(max_size=20)
NUMBERS = st.integers(0, 2**63)


@given(
    st.sampled_from((CONTROL, DATA)), NUMBERS, st.dictionaries(TEXTS, TEXTS, max_size=5), st.binary(), NUMBERS, TEXTS
)
def test_a_frame_is_read_as_it_was_written(
    method: int, service: int, headers: dict[str, str], payload: bytes, log_id: int, encoding: str
) -> None:
    frame = LarkFrame(method, service, headers, payload, 3, log_id, encoding, "json", "log")
    assert decode_frame(frame.encode()) == frame


@given(st.dictionaries(TEXTS, TEXTS, max_size=5), st.binary())
def test_both_codecs_read_each_other(headers: dict[str, str], payload: bytes) -> None:
    theirs = decode_frame(write_frame(DATA, headers, payload))
    assert (theirs.method, theirs.headers, theirs.payload) == (DATA, headers, payload)
    fields, read = read_frame(LarkFrame(CONTROL, 5, headers).encode())
    assert ({number: fields[number] for number in (1, 2, 3, 4)}, read) == ({1: 0, 2: 0, 3: 5, 4: 0}, headers)


@given(st.binary())
def test_any_bytes_are_a_frame_or_refused(data: bytes) -> None:
    try:
        frame = decode_frame(data)
    except FrameInvalid:
        return
    assert isinstance(frame.payload, bytes)


@pytest.mark.parametrize("data", [b"\x80" * 11, b"\x42\x05abc", b"\x0b", b"\x20", b"\x2a\x00" * 101])
def test_a_damaged_frame_is_refused(data: bytes) -> None:
    if data == b"\x2a\x00" * 101:
        data = b"".join(b"\x2a\x05\x0a\x03%03d" % number for number in range(101))
    with pytest.raises(FrameInvalid):
        decode_frame(data)

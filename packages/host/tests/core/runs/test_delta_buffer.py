"""Deltas reach screen, ledger and message completely, with bounded memory."""

from hypothesis import given
from hypothesis import strategies as st

from parlour.core.runs.delta_buffer import FLUSH_CHARACTERS, DeltaBuffer
from parlour_sdk.protocol.limits import MESSAGE_TEXT_BYTES


@given(st.lists(st.tuples(st.text(max_size=5), st.sampled_from(["", "show", "write"])), max_size=30))
def test_screen_ledger_and_message_get_the_same_text(steps: list[tuple[str, str]]) -> None:
    deltas = DeltaBuffer()
    shown, written, whole = "", "", ""
    for number, (text, then) in enumerate(steps, 1):
        deltas.add(text, number)
        whole += text
        if then == "show":
            shown += deltas.drain_unpublished()
        elif then == "write":
            written += deltas.drain_unwritten()[0]
    shown += deltas.drain_unpublished()
    if deltas.has_unwritten:
        written += deltas.drain_unwritten()[0]
    assert shown == written == whole == deltas.incomplete_text()


def test_written_deltas_have_the_first_and_last_sequence_number() -> None:
    deltas = DeltaBuffer()
    deltas.add("a", 3)
    deltas.add("b", 4)
    assert deltas.drain_unwritten() == ("ab", 3, 4)
    deltas.add("c", 9)
    assert deltas.drain_unwritten() == ("c", 9, 9)


def test_full_buffer_is_due() -> None:
    deltas = DeltaBuffer()
    deltas.add("x" * (FLUSH_CHARACTERS - 1), 1)
    assert not deltas.is_full
    deltas.add("x", 2)
    assert deltas.is_full
    deltas.drain_unwritten()
    assert not deltas.is_full


def test_buffered_text_of_a_message_is_bounded() -> None:
    deltas = DeltaBuffer()
    piece = "x" * 10_000
    for number in range(1, 200):
        deltas.add(piece, number)
        deltas.drain_unpublished()
        deltas.drain_unwritten()
    assert len(deltas.incomplete_text()) < MESSAGE_TEXT_BYTES + len(piece)


def test_completed_message_clears_the_buffer() -> None:
    deltas = DeltaBuffer()
    deltas.add("a", 1)
    deltas.message_completed()
    deltas.add("b", 2)
    assert deltas.incomplete_text() == "b"

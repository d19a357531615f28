"""Fragments on their way: nothing is lost between screen and ledger, and memory stays bounded."""

from hypothesis import given
from hypothesis import strategies as st

from parlour.core.runs.deltas import WINDOW_CHARACTERS, Deltas
from parlour_sdk.protocol.limits import MESSAGE_TEXT_BYTES


@given(st.lists(st.tuples(st.text(max_size=5), st.sampled_from(["", "show", "write"])), max_size=30))
def test_screen_ledger_and_message_get_the_same_text_whenever_each_takes_it(steps: list[tuple[str, str]]) -> None:
    deltas = Deltas()
    shown, written, whole = "", "", ""
    for number, (text, then) in enumerate(steps, 1):
        deltas.add(text, number)
        whole += text
        if then == "show":
            shown += deltas.take_unshown()
        elif then == "write":
            written += deltas.take_unwritten()[0]
    shown += deltas.take_unshown()
    if deltas.unwritten:
        written += deltas.take_unwritten()[0]
    assert shown == written == whole == deltas.leftover()


def test_what_is_written_names_the_runners_first_and_last_number() -> None:
    deltas = Deltas()
    deltas.add("a", 3)
    deltas.add("b", 4)
    assert deltas.take_unwritten() == ("ab", 3, 4)
    deltas.add("c", 9)
    assert deltas.take_unwritten() == ("c", 9, 9)


def test_a_full_window_is_due() -> None:
    deltas = Deltas()
    deltas.add("x" * (WINDOW_CHARACTERS - 1), 1)
    assert not deltas.due
    deltas.add("x", 2)
    assert deltas.due
    deltas.take_unwritten()
    assert not deltas.due


def test_the_text_kept_for_a_message_is_bounded_however_long_a_runner_streams() -> None:
    deltas = Deltas()
    piece = "x" * 10_000
    for number in range(1, 200):
        deltas.add(piece, number)
        deltas.take_unshown()
        deltas.take_unwritten()
    assert len(deltas.leftover()) < MESSAGE_TEXT_BYTES + len(piece)


def test_a_completed_message_leaves_nothing_over() -> None:
    deltas = Deltas()
    deltas.add("a", 1)
    deltas.message_completed()
    deltas.add("b", 2)
    assert deltas.leftover() == "b"

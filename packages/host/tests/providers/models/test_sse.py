"""A stream is split into the same events for every way in which it is cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.providers.models.sse import MAX_LINE_BYTES, EventTooLong, SseSplitter

DATA = st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",)), min_size=1).map(str.encode)
END = st.sampled_from([b"\n", b"\r\n", b"\r"])


def all_events(blocks: list[bytes]) -> list[bytes]:
    splitter = SseSplitter()
    return [event for block in blocks for event in splitter.feed(block)] + splitter.end()


@given(st.lists(DATA, max_size=5), END, st.lists(st.integers(0, 400)), st.booleans())
def test_events_do_not_depend_on_where_the_stream_is_cut(
    events: list[bytes], end: bytes, cuts: list[int], marked: bool
) -> None:
    stream = b"\xef\xbb\xbf" * marked + b"".join(b"data: " + event + end + end for event in events)
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    blocks = [stream[begin:stop] for begin, stop in pairwise(places)]
    assert all_events(blocks) == events


@given(st.binary())
def test_any_bytes_give_the_same_events_in_one_piece_or_byte_by_byte(stream: bytes) -> None:
    once = all_events([stream])
    assert all_events([stream[at : at + 1] for at in range(len(stream))]) == once


def test_lines_of_one_event_are_joined_and_other_fields_are_ignored() -> None:
    stream = b": ping\n\nevent: delta\nid: 7\ndata: one\ndata:two\nretry: 5\n\ndata\n\n"
    assert all_events([stream]) == [b"one\ntwo"]


def test_the_last_event_needs_no_empty_line_after_it() -> None:
    assert all_events([b"data: [DONE]"]) == [b"[DONE]"]


def test_a_line_that_is_too_long_is_refused() -> None:
    splitter = SseSplitter()
    assert splitter.feed(b"x" * MAX_LINE_BYTES) == []
    with pytest.raises(EventTooLong):
        splitter.feed(b"x")

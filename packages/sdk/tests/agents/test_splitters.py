"""Tests the splitters: events are the same for all boundaries of blocks, and no buffer grows without limit."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour_sdk.agents.http_agent import (
    EventStreamSplitter,
    JsonLinesSplitter,
    JsonTextSplitter,
    ServerEvent,
    ServiceFailure,
)

LINE_ENDS = st.sampled_from(["\n", "\r", "\r\n"])
LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",)), max_size=20)
OBJECTS = st.dictionaries(
    st.text('ab"\\{}[]é世\n', max_size=6),
    st.text('ab"\\{}[]é世\n', max_size=6) | st.integers() | st.just([{"x": ["}"]}]),
    max_size=3,
)


def split(splitter: Any, blocks: Sequence[bytes]) -> list[ServerEvent]:
    return [event for block in blocks for event in splitter.feed(block)] + splitter.finish()


@st.composite
def cuts(draw: st.DrawFn, content: bytes) -> list[bytes]:
    places = sorted(draw(st.lists(st.integers(0, len(content)), max_size=12)))
    edges = [0, *places, len(content)]
    return [content[start:end] for start, end in pairwise(edges)]


@given(st.data(), st.lists(st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), max_size=4), LINE_ENDS)
def test_server_sent_events_are_found_whatever_the_blocks(data: st.DataObject, sent: Any, end: str) -> None:
    texts = [
        f"event: {name}{end}{''.join(f'data: {line}{end}' for line in lines)}: ping{end}{end}" for name, lines in sent
    ]
    events = split(EventStreamSplitter(), data.draw(cuts("".join(texts).encode())))
    assert [(event.name, event.data) for event in events] == [(name, "\n".join(lines)) for name, lines in sent]


@given(st.data(), st.lists(OBJECTS, max_size=5), st.sampled_from(["", " ", "\n", "\r\n\r\n"]), st.booleans())
def test_json_texts_are_found_whatever_the_blocks(data: st.DataObject, sent: Any, between: str, ascii: bool) -> None:
    content = between.join(json.dumps(each, ensure_ascii=ascii) for each in sent).encode()
    events = split(JsonTextSplitter(), data.draw(cuts(content)))
    assert [event.json() for event in events] == sent


@given(st.data(), st.lists(OBJECTS, max_size=5), LINE_ENDS)
def test_json_lines_are_found_whatever_the_blocks(data: st.DataObject, sent: Any, end: str) -> None:
    content = end.join(json.dumps(each, ensure_ascii=False) for each in sent).encode()
    assert [event.json() for event in split(JsonLinesSplitter(), data.draw(cuts(content)))] == sent


@given(st.data(), st.binary(max_size=200), st.sampled_from([EventStreamSplitter, JsonLinesSplitter, JsonTextSplitter]))
def test_arbitrary_bytes_give_events_or_a_failure(data: st.DataObject, content: bytes, kind: Any) -> None:
    reasons = {"protocol"}
    try:
        events = split(kind(), data.draw(cuts(content)))
    except ServiceFailure as failure:
        reasons.add(failure.reason)
    else:
        assert sum(len(event.data) for event in events) <= len(content)
    assert reasons == {"protocol"}


@pytest.mark.parametrize("kind", [EventStreamSplitter, JsonLinesSplitter, JsonTextSplitter])
def test_an_event_over_the_limit_fails_before_its_end(kind: Any) -> None:
    splitter = kind(max_event_bytes=1000)
    splitter.feed(b'{"a": "' if kind is not EventStreamSplitter else b"data: ")
    for _ in range(9):
        assert splitter.feed(b"x" * 100) == []
    with pytest.raises(ServiceFailure, match="larger than 1,000 bytes"):
        splitter.feed(b"x" * 100)


def test_many_small_lines_of_one_event_count_together() -> None:
    splitter = EventStreamSplitter(max_event_bytes=1000)
    for _ in range(142):
        assert splitter.feed(b"data: x\n") == []
    with pytest.raises(ServiceFailure):
        splitter.feed(b"data: x\n")


@pytest.mark.parametrize(
    ("content", "events"),
    [
        (b"data: no blank line", [ServerEvent("no blank line")]),
        (b"data:no space\n\n", [ServerEvent("no space")]),
        (b"\xef\xbb\xbfdata: mark\n\n", [ServerEvent("mark")]),
        (b"event: ping\n\n: alive\n\ndata: x\n\n", [ServerEvent("x")]),
        (b"id: 7\n:HTTP_STATUS/429\ndata: x\n\n", [ServerEvent("x", id="7", comments=("HTTP_STATUS/429",))]),
        (b"retry: 5\nunknown: 1\ndata: a\ndata: b\n\n", [ServerEvent("a\nb")]),
    ],
)
def test_the_forms_of_an_event(content: bytes, events: list[ServerEvent]) -> None:
    assert split(EventStreamSplitter(), [content]) == events


@pytest.mark.parametrize("content", [b'{"a": 1', b'x {"a": 1}', b"]", b'{"a": 1} tail', b'"text"'])
def test_bytes_that_are_no_json_text_fail(content: bytes) -> None:
    with pytest.raises(ServiceFailure):
        split(JsonTextSplitter(), [content])

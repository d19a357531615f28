"""Whoever comes back with the number of the last frame it saw gets exactly the text it lacks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.delivery import feed as feed_module
from parlour.core.delivery.feed import Feed, Frame

from .test_feed import ROW, HandClock

texts = st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=30)


class Screen:
    """What a client shows of the message that grows."""

    def __init__(self) -> None:
        self.text = ""
        self.seq = 0

    def see(self, frames: list[Frame]) -> None:
        for frame in frames:
            if frame["type"] == "delta":
                self.text = frame["content"] if frame.get("replace") else self.text + frame["content"]
            elif frame["type"] == "message":
                self.text = ""
            self.seq = max(self.seq, frame["seq"])


def grow(feed: Feed, text: str, tool: bool = False) -> None:
    feed.publish_delta("chat", "run", text, feed.next_seq())
    if tool:
        feed.publish_tool_call("chat", "run", {"tool_call_id": "1", "tool_name": "look"}, "started", feed.next_seq())


@given(texts, st.integers(0, 30), st.booleans())
def test_resuming_at_any_point_yields_exactly_the_missing_text(parts: list[str], cut: int, tools: bool) -> None:
    feed = Feed(HandClock())
    screen, watching = Screen(), feed.subscribe("chat")
    feed.run_started("chat", "run")
    for part in parts[:cut]:
        grow(feed, part, tools)
    screen.see(watching.drain())
    for part in parts[cut:]:
        grow(feed, part, tools)
    live = feed.active_run("chat")
    assert live is not None
    screen.see(live.frames_after(screen.seq))
    assert screen.text == "".join(parts)
    assert live.frames_after(screen.seq) == []


@given(texts, texts, st.integers(0, 30))
def test_text_of_a_message_that_is_whole_is_not_told_again(first: list[str], second: list[str], cut: int) -> None:
    feed = Feed(HandClock())
    screen, watching = Screen(), feed.subscribe("chat")
    feed.run_started("chat", "run")
    for part in first:
        grow(feed, part)
    feed.publish_row(replace(ROW, feed_seq=feed.next_seq()))
    for part in second[:cut]:
        grow(feed, part)
    screen.see(watching.drain())
    for part in second[cut:]:
        grow(feed, part)
    live = feed.active_run("chat")
    assert live is not None
    screen.see(live.frames_after(screen.seq))
    assert screen.text == "".join(second)


@pytest.mark.parametrize("tools", [False, True])
def test_marks_that_were_forgotten_are_made_up_for_by_the_whole_text(
    monkeypatch: pytest.MonkeyPatch, tools: bool
) -> None:
    """Every point of a long stream, with few marks: the text is right, and told whole only to the far behind."""
    monkeypatch.setattr(feed_module, "MAX_DELTA_OFFSETS", 8)
    parts = [f"{number}." for number in range(30)]
    replaced = 0
    for cut in range(len(parts) + 1):
        feed = Feed(HandClock())
        screen, watching = Screen(), feed.subscribe("chat")
        feed.run_started("chat", "run")
        for part in parts[:cut]:
            grow(feed, part, tools)
        screen.see(watching.drain())
        for part in parts[cut:]:
            grow(feed, part, tools)
        live = feed.active_run("chat")
        assert live is not None
        missed = live.frames_after(screen.seq)
        replaced += any(frame.get("replace", False) for frame in missed)
        screen.see(missed)
        assert screen.text == "".join(parts), f"cut after {cut}"
    assert 0 < replaced < len(parts)


def test_a_newcomer_gets_the_run_and_the_text_so_far() -> None:
    feed = Feed(HandClock())
    feed.run_started("chat", "run")
    grow(feed, "hel")
    grow(feed, "lo")
    live = feed.active_run("chat")
    assert live is not None
    assert [(frame["type"], frame.get("content")) for frame in live.frames_after(live.started - 1)] == [
        ("run", None),
        ("delta", "hello"),
    ]

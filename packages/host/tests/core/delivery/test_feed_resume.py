"""A client that resumes after a frame number gets exactly the text it missed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.delivery import feed as feed_module
from parlour.core.delivery.feed import Feed, Frame

from .test_feed import ROW, ManualClock

texts = st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=30)


class Screen:
    """The text that a client shows of a streamed message."""

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


def publish(feed: Feed, text: str, tool: bool = False) -> None:
    feed.publish_delta("chat", "run", text, feed.next_seq())
    if tool:
        feed.publish_tool_call("chat", "run", {"tool_call_id": "1", "tool_name": "look"}, "started", feed.next_seq())


@given(texts, st.integers(0, 30), st.booleans())
def test_resuming_at_any_point_yields_exactly_the_missing_text(parts: list[str], cut: int, tools: bool) -> None:
    feed = Feed(ManualClock())
    screen, watching = Screen(), feed.subscribe("chat")
    feed.run_started("chat", "run")
    for part in parts[:cut]:
        publish(feed, part, tools)
    screen.see(watching.drain())
    for part in parts[cut:]:
        publish(feed, part, tools)
    live = feed.active_run("chat")
    assert live is not None
    screen.see(live.frames_after(screen.seq))
    assert screen.text == "".join(parts)
    assert live.frames_after(screen.seq) == []


@given(texts, texts, st.integers(0, 30))
def test_completed_message_is_not_sent_again_on_resume(first: list[str], second: list[str], cut: int) -> None:
    feed = Feed(ManualClock())
    screen, watching = Screen(), feed.subscribe("chat")
    feed.run_started("chat", "run")
    for part in first:
        publish(feed, part)
    feed.publish_row(replace(ROW, feed_seq=feed.next_seq()))
    for part in second[:cut]:
        publish(feed, part)
    screen.see(watching.drain())
    for part in second[cut:]:
        publish(feed, part)
    live = feed.active_run("chat")
    assert live is not None
    screen.see(live.frames_after(screen.seq))
    assert screen.text == "".join(second)


@pytest.mark.parametrize("tools", [False, True])
def test_whole_text_is_sent_if_the_offset_is_no_longer_known(monkeypatch: pytest.MonkeyPatch, tools: bool) -> None:
    """Resumes at every point of a long stream; only clients far behind get the whole text."""
    monkeypatch.setattr(feed_module, "MAX_DELTA_OFFSETS", 8)
    parts = [f"{number}." for number in range(30)]
    replaced = 0
    for cut in range(len(parts) + 1):
        feed = Feed(ManualClock())
        screen, watching = Screen(), feed.subscribe("chat")
        feed.run_started("chat", "run")
        for part in parts[:cut]:
            publish(feed, part, tools)
        screen.see(watching.drain())
        for part in parts[cut:]:
            publish(feed, part, tools)
        live = feed.active_run("chat")
        assert live is not None
        missed = live.frames_after(screen.seq)
        replaced += any(frame.get("replace", False) for frame in missed)
        screen.see(missed)
        assert screen.text == "".join(parts), f"cut after {cut}"
    assert 0 < replaced < len(parts)


def test_new_client_gets_the_run_and_its_text_so_far() -> None:
    feed = Feed(ManualClock())
    feed.run_started("chat", "run")
    publish(feed, "hel")
    publish(feed, "lo")
    live = feed.active_run("chat")
    assert live is not None
    assert [(frame["type"], frame.get("content")) for frame in live.frames_after(live.started - 1)] == [
        ("run", None),
        ("delta", "hello"),
    ]

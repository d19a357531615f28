"""Live frames of the web chat: numbered, merged while queued, dropped for slow readers, and not kept when idle."""

from dataclasses import replace

from parlour.core.delivery import feed as feed_module
from parlour.core.delivery.feed import Feed, FeedSubscription, outgoing_frame
from parlour.core.model.outbox_row import OutboxRow


class ManualClock:
    def __init__(self, now: int = 1_000) -> None:
        self.time = now

    def now(self) -> int:
        return self.time


ROW = OutboxRow(
    outbox_id="row",
    surface="webui",
    target="chat",
    conversation_id="chat",
    bot_id="",
    run_id="run",
    kind="message",
    state="sent",
    message={"role": "assistant", "content": "hello"},
    address={},
    feed_seq=7,
    created_at=0,
    expires_at=0,
)


def test_numbers_increase_also_if_the_clock_stops_or_goes_back() -> None:
    clock = ManualClock(1_000)
    feed = Feed(clock)
    numbers = [feed.next_seq(), feed.next_seq()]
    clock.time = 900
    numbers.append(feed.next_seq())
    clock.time = 2_000
    numbers.append(feed.next_seq())
    assert numbers == [1_000_000, 1_000_001, 1_000_002, 2_000_000]


def test_numbers_before_a_restart_are_not_reused() -> None:
    feed = Feed(ManualClock(1_000))
    feed.start_after(5_000_000)
    assert feed.next_seq() == 5_000_001


def test_frames_reach_all_subscribers_of_the_conversation_only() -> None:
    feed = Feed(ManualClock())
    one, two, other_chat = feed.subscribe("chat"), feed.subscribe("chat"), feed.subscribe("other")
    feed.run_started("chat", "run")
    assert one.drain() == two.drain() != []
    assert other_chat.drain() == []


def test_unsubscribed_reader_gets_no_frames() -> None:
    feed = Feed(ManualClock())
    subscription = feed.subscribe("chat")
    feed.unsubscribe("chat", subscription)
    feed.run_started("chat", "run")
    assert subscription.drain() == []


def test_idle_conversation_uses_no_memory() -> None:
    feed = Feed(ManualClock())
    subscription = feed.subscribe("chat")
    feed.run_started("chat", "run")
    feed.publish_delta("chat", "run", "hel", feed.next_seq())
    feed.run_ended("chat", "run", "completed", feed.next_seq())
    feed.unsubscribe("chat", subscription)
    assert feed.active_run("chat") is None
    assert feed.subscriber_counts() == {}


def test_end_of_an_older_run_keeps_the_active_one() -> None:
    feed = Feed(ManualClock())
    feed.run_started("chat", "old")
    feed.run_started("chat", "new")
    feed.run_ended("chat", "old", "failed", feed.next_seq())
    live = feed.active_run("chat")
    assert live is not None
    assert live.run_frame["run_id"] == "new"


def test_queued_deltas_are_merged_with_the_last_number() -> None:
    subscription = FeedSubscription()
    for seq, text in ((1, "a"), (2, "b"), (3, "c")):
        subscription.put({"type": "delta", "run_id": "run", "content": text, "seq": seq})
    assert subscription.drain() == [{"type": "delta", "run_id": "run", "content": "abc", "seq": 3}]


def test_deltas_of_two_runs_are_not_merged() -> None:
    subscription = FeedSubscription()
    subscription.put({"type": "delta", "run_id": "one", "content": "a", "seq": 1})
    subscription.put({"type": "delta", "run_id": "two", "content": "b", "seq": 2})
    assert [frame["content"] for frame in subscription.drain()] == ["a", "b"]


def test_deltas_around_a_message_are_not_merged() -> None:
    subscription = FeedSubscription()
    subscription.put({"type": "delta", "run_id": "run", "content": "a", "seq": 1})
    subscription.put({"type": "message", "run_id": "run", "message": {}, "seq": 2})
    subscription.put({"type": "delta", "run_id": "run", "content": "b", "seq": 3})
    assert [frame["type"] for frame in subscription.drain()] == ["delta", "message", "delta"]


def test_each_frame_wakes_the_reader() -> None:
    woken: list[int] = []
    subscription = FeedSubscription()
    subscription.on_frame(lambda: woken.append(1))
    subscription.put({"type": "run", "run_id": "run", "status": "running", "seq": 1})
    subscription.put({"type": "run", "run_id": "run", "status": "completed", "seq": 2})
    assert len(woken) == 2


def test_reader_behind_by_too_much_text_is_dropped() -> None:
    subscription = FeedSubscription()
    text = "x" * (feed_module.MAX_QUEUED_CHARACTERS // 4)
    for seq in range(1, 7):
        subscription.put({"type": "delta", "run_id": "run", "content": text, "seq": seq})
    assert subscription.overrun
    assert subscription.drain() == []


def test_reader_behind_by_too_many_frames_is_dropped() -> None:
    subscription = FeedSubscription()
    for seq in range(feed_module.MAX_QUEUED_FRAMES + 1):
        subscription.put({"type": "run", "run_id": "run", "status": "running", "seq": seq})
    assert subscription.overrun


def test_reader_that_keeps_up_is_not_dropped() -> None:
    subscription = FeedSubscription()
    text = "x" * (feed_module.MAX_QUEUED_CHARACTERS // 2)
    for seq in range(20):
        subscription.put({"type": "delta", "run_id": "run", "content": text, "seq": seq})
        assert subscription.drain()
    assert not subscription.overrun


def test_only_the_latest_tool_frames_are_kept_for_resuming() -> None:
    feed = Feed(ManualClock())
    feed.run_started("chat", "run")
    for number in range(feed_module.MAX_TOOL_FRAMES + 10):
        feed.publish_tool_call(
            "chat", "run", {"tool_call_id": str(number), "tool_name": "look"}, "started", feed.next_seq()
        )
    live = feed.active_run("chat")
    assert live is not None
    shown = [frame["tool_call_id"] for frame in live.frames_after(live.started)]
    assert shown == [str(number) for number in range(10, feed_module.MAX_TOOL_FRAMES + 10)]


def test_message_row_becomes_a_message_frame() -> None:
    assert outgoing_frame(ROW) == {"type": "message", "run_id": "run", "message": ROW.message, "seq": 7}


def test_notice_row_becomes_an_error_frame_with_its_code() -> None:
    frame = outgoing_frame(replace(ROW, kind="notice", code="interrupted"))
    expected = {"type": "error", "code": "interrupted", "message": "hello", "in_history": True}
    assert frame == {**expected, "run_id": "run", "seq": 7}


def test_notice_without_a_run_has_no_run_id() -> None:
    assert "run_id" not in outgoing_frame(replace(ROW, kind="notice", code="expired", run_id=""))

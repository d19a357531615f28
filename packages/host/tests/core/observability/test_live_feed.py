"""Subscribers see changes in order, receive missed ones when they reconnect, and learn of gaps."""

from typing import Any

import pytest

from parlour.core.journal import Delete, Insert, Statement, Unit, Update, where
from parlour.core.observability.live_feed import (
    MAX_KEPT_FRAMES,
    MAX_QUEUED_FRAMES,
    RECONNECT_WINDOW_MILLISECONDS,
    ComponentState,
    Frame,
    LiveFeed,
    LiveSubscriber,
)
from parlour.core.store.tables import APPROVALS, META, SCHEDULES

from ..support import EPOCH


class Clock:
    def __init__(self, moment: int = EPOCH) -> None:
        self.moment = moment

    def now(self) -> int:
        return self.moment


@pytest.fixture
def feed() -> LiveFeed:
    return LiveFeed(Clock())


def publish(feed: LiveFeed, *names: str) -> None:
    for name in names:
        feed.on_commit(Unit("test", (Delete(SCHEDULES, where(schedule_id=name)),)))


async def receive(subscriber: LiveSubscriber) -> list[Frame]:
    return await subscriber.receive()


def ids(frames: list[Frame]) -> list[str]:
    return [frame.get("id", frame["type"]) for frame in frames]


async def test_subscriber_receives_changes_in_order(feed: LiveFeed) -> None:
    with feed.subscribe() as subscriber:
        publish(feed, "a", "b")
        frames = await receive(subscriber)

    assert ids(frames) == ["connected", "a", "b"]
    assert frames[0]["seq"] < frames[1]["seq"] < frames[2]["seq"]


async def test_reconnecting_subscriber_receives_missed_frames_once(feed: LiveFeed) -> None:
    with feed.subscribe() as subscriber:
        publish(feed, "a", "b")
        last = (await receive(subscriber))[1]["seq"]
    publish(feed, "c")

    with feed.subscribe(last) as subscriber:
        publish(feed, "d")
        assert ids(await receive(subscriber)) == ["connected", "b", "c", "d"]


async def test_frames_are_not_kept_after_the_reconnect_window() -> None:
    clock = Clock()
    feed = LiveFeed(clock)
    with feed.subscribe() as subscriber:
        last = (await receive(subscriber))[-1]["seq"]
    clock.moment += RECONNECT_WINDOW_MILLISECONDS
    publish(feed, "a")

    with feed.subscribe(last) as subscriber:
        assert ids(await receive(subscriber)) == ["connected", "missed"]


async def test_subscriber_that_missed_too_many_frames_is_notified(feed: LiveFeed) -> None:
    with feed.subscribe() as subscriber:
        last = (await receive(subscriber))[-1]["seq"]
    publish(feed, *(str(number) for number in range(MAX_KEPT_FRAMES + 1)))

    with feed.subscribe(last) as subscriber:
        assert ids(await receive(subscriber)) == ["connected", "missed"]


@pytest.mark.parametrize("went", [-3_600_000, 3_600_000])
async def test_number_from_before_a_restart_is_recognized(went: int) -> None:
    with LiveFeed(Clock()).subscribe() as subscriber:
        last = (await receive(subscriber))[-1]["seq"]

    with LiveFeed(Clock(EPOCH + went)).subscribe(last) as subscriber:
        assert ids(await receive(subscriber)) == ["connected", "missed"]


async def test_slow_subscriber_is_notified_and_does_not_block_others(feed: LiveFeed) -> None:
    with feed.subscribe() as slow, feed.subscribe() as quick:
        for number in range(MAX_QUEUED_FRAMES + 5):
            publish(feed, str(number))
            await receive(quick)
        frames = await receive(slow)

    assert frames[0]["type"] == "missed"
    assert len(frames) < MAX_QUEUED_FRAMES


async def test_current_states_are_sent_first_and_then_changes(feed: LiveFeed) -> None:
    states = {"one": "starting", "two": "ready"}
    feed._states = lambda: [ComponentState("plugin", name, state) for name, state in states.items()]
    with feed.subscribe() as subscriber:
        first = await receive(subscriber)
        states |= {"one": "ready"}
        del states["two"]
        feed._publish_states()
        feed._publish_states()
        later = await receive(subscriber)

    assert [(each.get("id"), each.get("state")) for each in first[1:]] == [("one", "starting"), ("two", "ready")]
    assert [(each["id"], each["state"]) for each in later] == [("two", "gone"), ("one", "ready")]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            Insert(APPROVALS, {"approval_id": "a", "status": "pending", "words": "May I?", "run_id": "r"}),
            {"type": "approval", "id": "a", "state": "pending", "words": "May I?", "run_id": "r"},
        ),
        (
            Update(APPROVALS, {"status": "denied", "decided_by": "user:1"}, where(approval_id="a")),
            {"type": "approval", "id": "a", "state": "denied", "decided_by": "user:1"},
        ),
        (
            Insert(META, {"name": "settings", "value": "{}"}),
            {"type": "configuration", "id": "settings", "state": "changed", "what": "settings"},
        ),
    ],
)
async def test_approvals_and_settings_are_published(
    feed: LiveFeed, statement: Statement, expected: dict[str, Any]
) -> None:
    with feed.subscribe() as subscriber:
        feed.on_commit(Unit("test", (statement, Insert(META, {"name": "other", "value": ""}))))
        frames = await receive(subscriber)

    assert [{name: value for name, value in frame.items() if name != "seq"} for frame in frames[1:]] == [expected]

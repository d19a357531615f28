"""Watchers see what happens in order, get what they missed when they come back, and are told when that can't be."""

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
def board() -> LiveFeed:
    return LiveFeed(Clock())


def happen(board: LiveFeed, *names: str) -> None:
    for name in names:
        board.on_commit(Unit("test", (Delete(SCHEDULES, where(schedule_id=name)),)))


async def seen(watcher: LiveSubscriber) -> list[Frame]:
    return await watcher.receive()


def ids(frames: list[Frame]) -> list[str]:
    return [frame.get("id", frame["type"]) for frame in frames]


async def test_a_watcher_sees_what_happens_in_order(board: LiveFeed) -> None:
    with board.subscribe() as watcher:
        happen(board, "a", "b")
        frames = await seen(watcher)

    assert ids(frames) == ["connected", "a", "b"]
    assert frames[0]["seq"] < frames[1]["seq"] < frames[2]["seq"]


async def test_whoever_comes_back_gets_what_happened_meanwhile_and_nothing_twice(board: LiveFeed) -> None:
    with board.subscribe() as watcher:
        happen(board, "a", "b")
        last = (await seen(watcher))[1]["seq"]
    happen(board, "c")

    with board.subscribe(last) as watcher:
        happen(board, "d")
        assert ids(await seen(watcher)) == ["connected", "b", "c", "d"]


async def test_nothing_is_kept_once_nobody_is_expected_back() -> None:
    clock = Clock()
    board = LiveFeed(clock)
    with board.subscribe() as watcher:
        last = (await seen(watcher))[-1]["seq"]
    clock.moment += RECONNECT_WINDOW_MILLISECONDS
    happen(board, "a")

    with board.subscribe(last) as watcher:
        assert ids(await seen(watcher)) == ["connected", "missed"]


async def test_whoever_missed_more_than_is_kept_is_told_so(board: LiveFeed) -> None:
    with board.subscribe() as watcher:
        last = (await seen(watcher))[-1]["seq"]
    happen(board, *(str(number) for number in range(MAX_KEPT_FRAMES + 1)))

    with board.subscribe(last) as watcher:
        assert ids(await seen(watcher)) == ["connected", "missed"]


@pytest.mark.parametrize("went", [-3_600_000, 3_600_000])
async def test_a_number_of_an_earlier_life_is_known_as_such_whichever_way_the_clock_went(went: int) -> None:
    with LiveFeed(Clock()).subscribe() as watcher:
        last = (await seen(watcher))[-1]["seq"]

    with LiveFeed(Clock(EPOCH + went)).subscribe(last) as watcher:
        assert ids(await seen(watcher)) == ["connected", "missed"]


async def test_a_watcher_that_falls_behind_is_told_so_and_harms_nobody(board: LiveFeed) -> None:
    with board.subscribe() as slow, board.subscribe() as quick:
        for number in range(MAX_QUEUED_FRAMES + 5):
            happen(board, str(number))
            await seen(quick)
        frames = await seen(slow)

    assert frames[0]["type"] == "missed"
    assert len(frames) < MAX_QUEUED_FRAMES


async def test_how_things_are_comes_first_and_then_what_changes(board: LiveFeed) -> None:
    states = {"one": "starting", "two": "ready"}
    board._states = lambda: [ComponentState("plugin", name, state) for name, state in states.items()]
    with board.subscribe() as watcher:
        first = await seen(watcher)
        states |= {"one": "ready"}
        del states["two"]
        board._publish_states()
        board._publish_states()
        later = await seen(watcher)

    assert [(each.get("id"), each.get("state")) for each in first[1:]] == [("one", "starting"), ("two", "ready")]
    assert [(each["id"], each["state"]) for each in later] == [("two", "gone"), ("one", "ready")]


@pytest.mark.parametrize(
    ("statement", "told"),
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
async def test_approvals_and_settings_are_told(board: LiveFeed, statement: Statement, told: dict[str, Any]) -> None:
    with board.subscribe() as watcher:
        board.on_commit(Unit("test", (statement, Insert(META, {"name": "other", "value": ""}))))
        frames = await seen(watcher)

    assert [{name: value for name, value in frame.items() if name != "seq"} for frame in frames[1:]] == [told]

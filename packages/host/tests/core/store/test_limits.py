"""Rate limits: what each kind lets through, what is left, when it fits again, and how a clock that is behind counts."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.journal import GuardFailed, Insert, Select, Unit, where
from parlour.core.model.rate_limit import LimitSubject, RateLimit
from parlour.core.store import limits
from parlour.core.store.limits import LimitCounters
from parlour.core.store.tables import LIMITS, META
from parlour.testing.memory_journal import MemoryJournal

START = 1_790_000_000_000
ANN = LimitSubject("ann")
KINDS = ("fixed", "sliding", "day", "bucket")


class Host:
    """Takes uses from limits."""

    def __init__(self, journal: MemoryJournal | None = None) -> None:
        self.journal = journal or MemoryJournal()
        self.counters = LimitCounters(self.journal)

    async def take(self, limit: RateLimit, now: int, amount: int = 1, subject: LimitSubject = ANN) -> bool:
        """Counts uses in a unit of its own and returns whether they were allowed."""
        for _ in range(3):
            statements = await self.counters.take(limit, subject, now, amount)
            try:
                await self.journal.commit(Unit("test.take", statements))
            except GuardFailed:
                state = await self.counters.state(limit, subject, now, amount)
                if state.left < amount:
                    return False
                now = state.now
            else:
                return True
        raise AssertionError("a limit with uses left was refused three times")

    async def left(self, limit: RateLimit, now: int) -> int:
        return (await self.counters.state(limit, ANN, now)).left


def minute(kind: str, count: int = 3, **fields: object) -> RateLimit:
    return RateLimit("policy", kind, count, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
async def test_no_more_than_the_count_is_let_through(kind: str) -> None:
    host, limit = Host(), minute(kind)

    assert [await host.take(limit, START) for _ in range(5)] == [True, True, True, False, False]
    assert await host.left(limit, START) == 0
    assert await host.take(limit, START, subject=LimitSubject("bob"))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_unit_above_its_limit_changes_nothing(kind: str) -> None:
    host, limit = Host(), minute(kind, 1)
    assert await host.take(limit, START)
    effect = Insert(META, {"name": "effect", "value": ""})

    with pytest.raises(GuardFailed):
        await host.journal.commit(Unit("test.take", (effect, *await host.counters.take(limit, ANN, START))))

    assert await host.journal.read(Select(META)) == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_request_for_more_than_the_limit_is_refused(kind: str) -> None:
    host, limit = Host(), minute(kind)

    assert not await host.take(limit, START, amount=4)
    assert await host.take(limit, START, amount=3)


async def test_a_fixed_window_starts_over() -> None:
    host, limit = Host(), minute("fixed", 1)
    _, end = limit.window(START)

    assert await host.take(limit, START)
    state = await host.counters.state(limit, ANN, START)
    assert (state.left, state.available_at) == (0, end)
    assert not await host.take(limit, end - 1)
    assert await host.take(limit, end)


async def test_a_sliding_window_counts_the_share_of_the_window_before() -> None:
    host, limit = Host(), minute("sliding", 10)
    start, end = limit.window(START)
    assert await host.take(limit, end - 1, amount=10)

    assert not await host.take(limit, end)
    assert await host.left(limit, end + 30_000) == 5
    assert await host.take(limit, end + 30_000, amount=5)
    assert not await host.take(limit, end + 30_000)
    assert await host.left(limit, end + limit.window_ms) == 5
    assert await host.left(limit, end + 2 * limit.window_ms) == 10
    assert end - start == 60_000


async def test_a_bucket_lets_a_burst_through_and_then_refills_evenly() -> None:
    host, limit = Host(), minute("bucket", 60, burst=5)

    assert [await host.take(limit, START) for _ in range(6)] == [True] * 5 + [False]
    assert (await host.counters.state(limit, ANN, START)).available_at == START + 1000
    assert not await host.take(limit, START + 999)
    assert await host.take(limit, START + 1000)
    assert await host.left(limit, START + 3000) == 2
    assert await host.left(limit, START + 100_000) == 5


@pytest.mark.parametrize(("date", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
async def test_a_day_is_that_of_the_time_zone_even_when_clocks_change(date: str, hours: int) -> None:
    limit = minute("day", time_zone="Europe/Berlin")
    noon = round(datetime.fromisoformat(f"{date}T12:00:00").replace(tzinfo=UTC).timestamp() * 1000)

    start, end = limit.window(noon)

    assert end - start == hours * 3_600_000
    assert limit.window(end)[0] == end
    assert limit.window(end - 1) == (start, end)


async def test_a_host_whose_clock_is_behind_counts_in_the_window_of_the_others() -> None:
    ahead = Host()
    behind = Host(ahead.journal)
    for kind in ("fixed", "sliding"):
        limit = minute(kind, 2)
        _, end = limit.window(START)
        assert await ahead.take(limit, end)
        assert await behind.take(limit, end - 1)
        assert not await behind.take(limit, end - 1)
        assert not await ahead.take(limit, end)


async def test_a_changed_window_starts_with_new_counters_and_a_deleted_policy_leaves_none() -> None:
    host = Host()
    assert await host.take(minute("fixed", 1), START)
    assert await host.take(minute("fixed", 1, window_ms=3_600_000), START)

    await host.journal.commit(Unit("test.delete", (limits.delete_for_policy("policy"),)))

    assert await host.journal.read(Select(LIMITS)) == []


async def test_counters_are_deleted_with_their_subject_or_conversation() -> None:
    host, limit = Host(), minute("fixed")
    chat = LimitSubject("chat", "c1")
    for subject in (ANN, chat, LimitSubject("other", "c2")):
        assert await host.take(limit, START, subject=subject)

    await host.journal.commit(
        Unit("test.delete", (limits.delete_for_subject(ANN), limits.delete_for_conversation("c1")))
    )

    assert [row["subject"] for row in await host.journal.read(Select(LIMITS))] == ["other"]


@pytest.mark.parametrize(("count", "window_ms", "burst"), [(0, 60_000, 0), (1, 0, 0), (1, 1, -1)])
def test_a_limit_without_meaning_is_refused(count: int, window_ms: int, burst: int) -> None:
    with pytest.raises(ValueError, match="policy"):
        RateLimit("policy", "fixed", count, window_ms, burst)


async def test_an_amount_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        await Host().counters.take(minute("fixed"), ANN, START, 0)


STEPS = st.lists(st.tuples(st.integers(0, 130_000), st.integers(1, 4)), min_size=1, max_size=25)


@given(kind=st.sampled_from(KINDS), count=st.integers(1, 7), burst=st.integers(0, 9), steps=STEPS)
async def test_uses_never_exceed_the_limit_and_fit_at_the_stated_time(
    kind: str, count: int, burst: int, steps: list[tuple[int, int]]
) -> None:
    host, limit, now = Host(), minute(kind, count, burst=burst), START
    taken: list[tuple[int, int]] = []
    for step, amount in steps:
        now += step
        state = await host.counters.state(limit, ANN, now, amount)
        if await host.take(limit, now, amount):
            assert state.available_at == now
            taken.append((now, amount))
        else:
            possible = amount <= (limit.capacity if kind == "bucket" else count)
            assert state.available_at > now
            if possible:
                assert not await host.take(limit, state.available_at - 1, amount)
                assert await host.take(limit, state.available_at, amount)
                now = state.available_at
                taken.append((now, amount))
        assert_within(limit, taken)


def assert_within(limit: RateLimit, taken: list[tuple[int, int]]) -> None:
    """Checks the definition of each kind against all that was let through."""
    now = taken[-1][0] if taken else START
    start, end = limit.window(now)
    if limit.kind == "bucket":
        for since, _ in taken:
            uses = sum(amount for moment, amount in taken if moment >= since)
            assert uses <= limit.capacity + (now - since) * 1000 / limit.refill_us
        return
    uses = sum(amount for moment, amount in taken if start <= moment < end)
    before = sum(amount for moment, amount in taken if start - limit.window_ms <= moment < start)
    carried = before * (end - now) / (end - start) if limit.kind == "sliding" else 0
    assert uses + carried <= limit.count


async def test_the_row_has_the_time_at_which_it_can_be_deleted() -> None:
    host = Host()
    for kind in KINDS:
        limit = RateLimit(kind, kind, 3)  # type: ignore[arg-type]
        assert await host.take(limit, START)
        [row] = await host.journal.read(Select(LIMITS, where(policy_id=kind)))
        fresh = await Host().counters.state(limit, ANN, row["expires_at"])
        assert await host.counters.state(limit, ANN, row["expires_at"]) == fresh

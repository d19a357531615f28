"""Tests the balance of parts: all are owned, Hosts end up with about the same number, and few parts move."""

from collections import Counter
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from parlour.core.cluster.balance import FIRST_CLAIM_MILLISECONDS, MAX_REQUESTS, STAY_MILLISECONDS, Members, plan_moves
from parlour.core.cluster.owner_rows import NO_HOST, PartOwner
from parlour.core.model.ids import HostId, PartId

START = 1_000_000
BEAT = 500
HOSTS = [HostId(name) for name in ("ann", "bob", "eve", "joe")]


def parts_of(*owners: HostId, kind: str = "shard", moved_at: int = 0) -> list[PartOwner]:
    return [
        PartOwner(PartId(f"{kind}:{number:02}"), owner, 1, NO_HOST, moved_at) for number, owner in enumerate(owners)
    ]


class Cluster:
    """Carries the moves of all Hosts out, one Host after the other, as their guarded units would."""

    def __init__(self, parts: list[PartOwner], live: list[HostId]) -> None:
        self.parts = {each.part: each for each in parts}
        self.live = live
        self.now = START
        self.moves: Counter[PartId] = Counter()
        """Number of times that a part was taken from a living Host."""

    def beat(self) -> None:
        self.now += BEAT
        for host in self.live:
            moves = plan_moves(list(self.parts.values()), Members(host, self.live), self.now)
            for part in moves.take:
                assert self.parts[part.part].host_id == NO_HOST
                self._change(part, host_id=host, wanted=NO_HOST)
            for part in moves.request:
                assert self.now - part.moved_at >= STAY_MILLISECONDS
                self.parts[part.part] = replace(part, wanted=host)
            for part in moves.release:
                self.moves[part.part] += 1
                self._change(part, host_id=NO_HOST)

    def counts(self, kind: str = "") -> list[int]:
        of_kind = [each.host_id for each in self.parts.values() if each.part.startswith(kind)]
        return [of_kind.count(host) for host in self.live]

    def _change(self, part: PartOwner, **values: HostId) -> None:
        self.parts[part.part] = replace(part, epoch=part.epoch + 1, moved_at=self.now, **values)


@given(
    st.lists(st.sampled_from([NO_HOST, *HOSTS]), max_size=70),
    st.integers(1, len(HOSTS)),
    st.lists(st.sampled_from([NO_HOST, *HOSTS]), max_size=9),
)
@example([], 4, [HOSTS[0]] * 4)
def test_parts_of_each_kind_end_up_with_living_hosts_in_equal_shares(
    shards: list[HostId], count: int, bots: list[HostId]
) -> None:
    live = HOSTS[:count]
    fenced = set(HOSTS[count:])
    freed = [[NO_HOST if owner in fenced else owner for owner in owners] for owners in (shards, bots)]
    cluster = Cluster([*parts_of(*freed[0]), *parts_of(*freed[1], kind="bot")], live)
    for _ in range(400):
        cluster.beat()
    for kind in ("shard", "bot"):
        counts = cluster.counts(kind)
        assert max(counts) - min(counts) <= 1
    assert sum(cluster.counts()) == len(shards) + len(bots)
    assert max(cluster.moves.values(), default=0) <= 1


@given(st.integers(1, 70), st.integers(1, 3))
def test_a_host_that_joins_moves_at_most_its_share(count: int, hosts: int) -> None:
    owners = [HOSTS[number % hosts] for number in range(count)]
    cluster = Cluster(parts_of(*owners), HOSTS[: hosts + 1])
    for _ in range(400):
        cluster.beat()
    assert sum(cluster.moves.values()) <= -(-count // (hosts + 1))


def test_a_host_asks_for_a_few_parts_at_a_time_and_for_none_that_has_just_moved() -> None:
    ann, bob = HOSTS[:2]
    settled, moved = parts_of(*[ann] * 20), parts_of(*[ann] * 20, moved_at=START - STAY_MILLISECONDS + 1)
    assert len(plan_moves(settled, Members(bob, [ann, bob]), START).request) == MAX_REQUESTS
    assert plan_moves(moved, Members(bob, [ann, bob]), START).request == []


def test_a_released_part_is_left_to_the_host_that_asked_for_it_for_a_moment() -> None:
    ann, bob, eve = HOSTS[:3]
    [free] = parts_of(NO_HOST, moved_at=START)
    part = replace(free, wanted=bob)
    assert plan_moves([part], Members(eve, [ann, bob, eve]), START).take == []
    assert plan_moves([part], Members(bob, [ann, bob, eve]), START).take == [part]
    assert plan_moves([part], Members(eve, [ann, bob, eve]), START + FIRST_CLAIM_MILLISECONDS).take == [part]
    assert plan_moves([part], Members(eve, [ann, eve]), START).take == [part]  # the one that asked is fenced


def test_a_leaving_host_gives_everything_away_and_takes_nothing() -> None:
    ann, bob = HOSTS[:2]
    parts = parts_of(ann, bob, NO_HOST)
    moves = plan_moves(parts, Members(ann, [ann, bob], is_leaving=True), START)
    assert (moves.take, moves.request, moves.release) == ((), (), [parts[0]])


def test_a_fenced_host_does_nothing() -> None:
    moves = plan_moves(parts_of(HOSTS[0], NO_HOST), Members(HOSTS[0], HOSTS[1:]), START)
    assert (moves.take, moves.request, moves.release) == ((), (), ())


def test_a_host_that_is_drained_gives_all_its_parts_to_the_others_and_gets_none() -> None:
    ann, bob, eve = HOSTS[:3]
    cluster = Cluster(parts_of(ann, ann, bob, bob, eve, eve), [bob, eve])
    released = plan_moves(list(cluster.parts.values()), Members(ann, [bob, eve], is_leaving=True), START).release
    assert len(released) == 2
    for part in released:
        cluster._change(part, host_id=NO_HOST)
    for _ in range(10):
        cluster.beat()
    assert cluster.counts() == [3, 3]


def test_a_part_that_an_operator_moves_goes_to_that_host_even_if_it_has_its_share() -> None:
    ann, bob = HOSTS[:2]
    cluster = Cluster(parts_of(ann, ann, bob, bob), [ann, bob])
    first = next(iter(cluster.parts.values()))
    cluster.parts[first.part] = replace(first, wanted=bob)
    for _ in range(10):
        cluster.beat()
    assert cluster.parts[first.part].host_id == bob

"""Decides which parts a Host takes, asks for and gives away, so that all Hosts have about the same number.

Parts of each kind are shared out by themselves: bots, shards, duties. Free parts are taken at once. A part of a living
Host only moves if another one has too few, and only after its owner has drained it.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from parlour.core.model.ids import HostId, PartId
from parlour_sdk.values import dataclass

from .owner_rows import NO_HOST, PartOwner

STAY_MILLISECONDS: Final = 30_000
"""Time for which a part that has moved is not asked for."""
FIRST_CLAIM_MILLISECONDS: Final = 2_000
"""Time for which a released part is left to the Host that asked for it."""
MAX_REQUESTS: Final = 4
"""Parts of a kind that a Host asks for at the same time, since each move interrupts its conversations for a moment."""


@dataclass(frozen=True, slots=True)
class PartMoves:
    """The next steps of a Host."""

    take: Sequence[PartOwner] = ()
    request: Sequence[PartOwner] = ()
    release: Sequence[PartOwner] = ()


@dataclass(frozen=True, slots=True)
class Members:
    """The Hosts as one of them sees them."""

    own_id: HostId
    live: Collection[HostId]
    """Hosts that are not fenced and take parts."""
    is_leaving: bool = False
    """True if this Host is to end, so that it gives all its parts away."""


def plan_moves(parts: Sequence[PartOwner], members: Members, now: int) -> PartMoves:
    """Returns the next moves of this Host. They are attempts: another Host may be faster.

    A part that this Host has asked for is taken even if it has its share, since an operator may have moved it.
    """
    own_id = members.own_id
    own = [each for each in parts if each.host_id == own_id]
    if members.is_leaving:
        return PartMoves(release=own)
    if own_id not in members.live:
        return PartMoves()
    release = [each for each in own if each.wanted != own_id and each.wanted in members.live]
    take: list[PartOwner] = []
    request: list[PartOwner] = []
    kinds: dict[str, list[PartOwner]] = {}
    for part in parts:
        kinds.setdefault(kind_of(part.part), []).append(part)
    for of_kind in kinds.values():
        taken = _to_take(of_kind, members, now)
        take += taken
        request += _to_request(of_kind, members, len(taken), now)
    return PartMoves(take, request, release)


def kind_of(part: PartId) -> str:
    """Returns the kind of a part: bot, shard or duty."""
    return part.partition(":")[0]


def _to_take(parts: Sequence[PartOwner], members: Members, now: int) -> list[PartOwner]:
    own_id = members.own_id
    room = -(-len(parts) // len(members.live)) - sum(each.host_id == own_id for each in parts)

    def is_for_others(part: PartOwner) -> bool:
        is_wanted = part.wanted in members.live and part.wanted != own_id
        return is_wanted and now - part.moved_at < FIRST_CLAIM_MILLISECONDS

    free = [each for each in parts if each.host_id == NO_HOST and not is_for_others(each)]
    asked = [each for each in free if each.wanted == own_id]
    others = [each for each in free if each.wanted != own_id]
    return [*asked, *others[: max(0, room - len(asked))]]


def _to_request(parts: Sequence[PartOwner], members: Members, taken: int, now: int) -> list[PartOwner]:
    """Asks the Hosts with the most parts, as long as they have at least two more than this one.

    It asks for more than its share only when the others have theirs or have asked for it, and first for the parts that
    have stayed longest, so that the same ones don't move again and again.
    """
    own_id = members.own_id
    requested = sum(each.wanted == own_id and each.host_id != own_id for each in parts)
    count = requested + taken + sum(each.host_id == own_id for each in parts)
    counts = Counter(each.host_id for each in parts if each.wanted not in members.live)
    movable = [
        each
        for each in parts
        if each.host_id in members.live
        and each.host_id != own_id
        and each.wanted not in members.live
        and now - each.moved_at >= STAY_MILLISECONDS
    ]
    expected = Counter(each.wanted if each.wanted in members.live else each.host_id for each in parts)
    share = len(parts) // len(members.live)
    others_lack = any(expected[each] < share for each in members.live if each != own_id)
    request: list[PartOwner] = []
    while movable and requested + len(request) < MAX_REQUESTS:
        if others_lack and count + len(request) >= share:
            break
        given = max(movable, key=lambda each: (counts[each.host_id], -each.moved_at))
        if counts[given.host_id] < count + len(request) + 2:
            break
        movable.remove(given)
        counts[given.host_id] -= 1
        request.append(given)
    return request

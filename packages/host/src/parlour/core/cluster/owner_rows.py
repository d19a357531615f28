"""Statements and queries of the table of owners. Each change of an owner raises the epoch of the part."""

from collections.abc import Collection, Sequence
from typing import Final

from parlour.core.journal import (
    Delete,
    Increment,
    Insert,
    Journal,
    Select,
    Statement,
    Update,
    one_of,
    other_than,
    where,
)
from parlour.core.model.ids import HostId, PartId
from parlour_sdk.values import dataclass

from .tables import HOSTS, LEASES, OWNERS

NO_HOST: Final = HostId("")


@dataclass(frozen=True, slots=True)
class PartOwner:
    """A part and its owner, as they are stored."""

    part: PartId
    host_id: HostId
    epoch: int
    wanted: HostId
    """The Host that asks for the part; empty if none does."""
    moved_at: int
    """Time of the last change, on the clock of the Host that made it."""


def add(part: PartId) -> Insert:
    """Adds a free part, unless it exists."""
    row: dict[str, str | int] = {"part": part, "host_id": "", "wanted": "", "epoch": 0, "moved_at": 0}
    return Insert(OWNERS, {**row}, conflict="ignore")


def take(free: PartOwner, host_id: HostId, now: int) -> Update:
    """Makes a Host the owner of a free part. Fails if another one was faster."""
    values: dict[str, str | int] = {"host_id": host_id, "epoch": free.epoch + 1, "wanted": "", "moved_at": now}
    return Update(OWNERS, {**values}, where(part=free.part, host_id="", epoch=free.epoch))


def release(part: PartId, epoch: int, now: int) -> Update:
    """Frees a part. The Host that wants it takes it first."""
    return Update(OWNERS, {"host_id": "", "epoch": Increment(), "moved_at": now}, where(part=part, epoch=epoch))


def request(owned: PartOwner, host_id: HostId) -> Update:
    """Asks the owner of a part to drain it for this Host."""
    return Update(OWNERS, {"wanted": host_id}, where(part=owned.part, epoch=owned.epoch, wanted=owned.wanted))


def remove(owned: PartOwner) -> Delete:
    """Removes a part that does not exist any more."""
    return Delete(OWNERS, where(part=owned.part, epoch=owned.epoch))


def guard(part: PartId, epoch: int) -> Statement:
    """Fails if the part has had another owner since this epoch. It writes and locks nothing."""
    return Delete(OWNERS, where(part=part, epoch=other_than(epoch)), expect=0)


def guard_that_fails(part: PartId) -> Statement:
    """Fails always: the part belongs to another Host."""
    return Update(OWNERS, {"epoch": -1}, where(part=part, epoch=-1))


async def all_parts(journal: Journal) -> list[PartOwner]:
    rows = await journal.read(Select(OWNERS, order=("part",), point_read=True))
    return [PartOwner(row["part"], row["host_id"], row["epoch"], row["wanted"], row["moved_at"]) for row in rows]


async def live_hosts(journal: Journal) -> tuple[Sequence[HostId], Collection[HostId]]:
    """Returns the Hosts that are not fenced, and which of them give their parts away."""
    live = [row["host_id"] for row in await journal.read(Select(LEASES, (), ("host_id",), point_read=True))]
    draining = Select(HOSTS, where(draining=1, host_id=one_of(*live)), ("host_id",), point_read=True)
    return live, {row["host_id"] for row in await journal.read(draining)} if live else set()

"""Reads the Hosts of a cluster and what they own, and asks a Host to give parts away."""

from collections.abc import Sequence

from parlour.core.journal import Journal, Select, Update, where
from parlour.core.model.ids import HostId, PartId
from parlour_sdk.values import dataclass

from .owner_rows import PartOwner, all_parts
from .tables import HOSTS, LEASES


@dataclass(frozen=True, slots=True)
class HostRecord:
    """A Host of the cluster, as the database knows it. One that was fenced is kept for a day."""

    host_id: HostId
    name: str
    version: str
    address: str
    started_at: int
    fenced_at: int
    is_draining: bool
    lease_until: int
    """When its lease ends by the database's clock, in milliseconds; 0 if it has none."""
    parts: Sequence[PartId]
    """What it owns, sorted by name."""

    @property
    def is_live(self) -> bool:
        return not self.fenced_at


@dataclass(frozen=True, slots=True)
class ClusterState:
    """All Hosts, the newest first, and all parts."""

    hosts: Sequence[HostRecord]
    parts: Sequence[PartOwner]


async def read_state(journal: Journal) -> ClusterState:
    """Reads the Hosts and the owners of parts."""
    parts = await all_parts(journal)
    owned: dict[HostId, list[PartId]] = {}
    for part in sorted(parts, key=lambda each: each.part):
        owned.setdefault(part.host_id, []).append(part.part)
    leases = {row["host_id"]: row["lease_until"] for row in await journal.read(Select(LEASES, point_read=True))}
    rows = await journal.read(Select(HOSTS, point_read=True))
    hosts = [
        HostRecord(
            row["host_id"],
            row["name"],
            row["version"],
            row["address"],
            row["started_at"],
            row["fenced_at"],
            bool(row["draining"]) and row["host_id"] in leases,
            leases.get(row["host_id"], 0),
            owned.get(row["host_id"], ()),
        )
        for row in rows
    ]
    return ClusterState(sorted(hosts, key=lambda each: each.started_at, reverse=True), parts)


def set_draining(host_id: HostId, is_draining: bool) -> Update:
    """Makes a living Host give all its parts away and take none, or take parts again. Fails if it is fenced."""
    return Update(HOSTS, {"draining": int(is_draining)}, where(host_id=host_id, fenced_at=0))

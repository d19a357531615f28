"""Identifies a Host in a cluster."""

from parlour.core.model.ids import HostId
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A Host's id, and the slot in which PostgreSQL numbers its rows."""

    host_id: HostId
    slot: int


SINGLE_HOST = ClusterMember(HostId(""), 0)
"""The place of a Host that has its database to itself."""

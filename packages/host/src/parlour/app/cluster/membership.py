"""Makes a process a Host of a cluster: it joins, keeps its lease, and ends when it is fenced."""

import logging
import os
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostFacts, HostLease
from parlour.core.cluster.member import ClusterMember
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import HostId
from parlour.core.model.ports import Ids
from parlour.stores.postgres import migrate
from parlour.stores.postgres.lease_thread import LeaseThread
from parlour.stores.postgres.leases import PostgresHostLeases
from parlour.version import VERSION
from parlour_sdk.values import dataclass

from ..settings import HostSettings
from .requirements import require_shared_stores

logger = logging.getLogger(__name__)

FENCED_STATUS = 75
"""Exit status of a Host that was fenced (EX_TEMPFAIL): its supervisor starts it again."""


@dataclass(frozen=True, slots=True)
class Membership:
    """A Host's place in the cluster."""

    url: str
    member: ClusterMember
    leases: PostgresHostLeases
    lease: HostLease
    ownership: LeasedOwnership


@asynccontextmanager
async def join_cluster(settings: HostSettings, ids: Ids) -> AsyncIterator[Membership]:
    """Joins the cluster, and leaves it at the end. Raises ConfigurationInvalid and StorageFailed.

    The journal of this Host is opened inside this context: nothing can be committed after it.
    """
    require_shared_stores(settings)
    url = settings.database.url.get_secret_value()
    await migrate.ensure(url)
    leases = PostgresHostLeases(url)
    lease = HostLease(on_lost=end_process)
    host_id = HostId(ids.new())
    facts = HostFacts(host_id, settings.cluster.name or platform.node(), VERSION, settings.cluster.address)
    asked_at = lease.now()
    try:
        slot = await leases.join(facts)
        lease.extend(asked_at)
        try:
            with LeaseThread(url, host_id, lease):
                logger.info("this is Host %s ('%s') of the cluster, with slot %d", host_id, facts.name, slot)
                yield Membership(url, ClusterMember(host_id, slot), leases, lease, LeasedOwnership(lease))
        finally:
            with suppress(StorageFailed):  # otherwise the others fence it when its lease ends
                await leases.leave(host_id)
    finally:
        await leases.close()


def end_process() -> None:
    """Ends this process at once. Its work belongs to other Hosts by now, and it can write nothing any more."""
    logging.shutdown()
    os._exit(FENCED_STATUS)

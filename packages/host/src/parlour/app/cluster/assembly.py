"""Opens what a Host in a cluster has beyond a single one, around the wiring of `bootstrap`."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from parlour.core.cluster.part_keeper import PartKeeper
from parlour.core.config.change_watcher import ChangeWatcher, Reload
from parlour.core.journal import Journal
from parlour.core.store.table_versions import VersionedJournal
from parlour.core.store.tables import BOTS, MCP_SERVERS, SCHEDULES
from parlour.stores.postgres.notices import PostgresChangeNotices

from ..config_changes import VERSIONED_CONFIG
from ..core_ports import CorePorts
from ..host import Host
from .membership import Membership
from .part_work import HostPartWork
from .remote_results import RemoteResults
from .request_owner import RequestOwner
from .send_log import ProcessSendLog
from .service import ClusterService
from .unnoticed_work import UnnoticedWork


def shared_journal(journal: Journal) -> Journal:
    """Returns a journal that notifies the other Hosts of changed configuration."""
    return VersionedJournal(journal, VERSIONED_CONFIG)


def shared_ports(ports: CorePorts, membership: Membership) -> CorePorts:
    """Returns the ports of a Host that owns only some parts."""
    return replace(
        ports,
        ownership=membership.ownership,
        send_log=ProcessSendLog(),
        job_owner=membership.member.host_id,
    )


@asynccontextmanager
async def open_cluster(host: Host, membership: Membership, reloads: Mapping[str, Reload]) -> AsyncIterator[None]:
    """Runs the services of the cluster while the context is open. `Host.start` takes the first parts."""
    notices = PostgresChangeNotices(membership.url)
    watcher = ChangeWatcher(host.journal, notices, _with_effects(host, reloads))
    await watcher.start()
    for reload in reloads.values():  # what changed since it was loaded
        await reload()
    work = HostPartWork(host.core, host.bots, host.knowledge, host.metrics, host.settings.cluster.drain_seconds)
    keeper = PartKeeper(host.journal, membership.leases, membership.ownership, work, membership.member, host.clock)
    unnoticed = UnnoticedWork(host.journal, host.core, membership.ownership)
    results = RemoteResults(host.journal, host.core, membership.ownership, host.clock)
    request_owner = RequestOwner(host.journal, membership.ownership)
    host.cluster = service = ClusterService(membership, keeper, watcher, unnoticed, results, request_owner)
    try:
        async with service.serve():
            yield
    finally:
        await notices.close()


def _with_effects(host: Host, reloads: Mapping[str, Reload]) -> Mapping[str, Reload]:
    """Returns the reloads, each followed by what a request for the change does on the Host that it reaches."""

    async def bots() -> None:
        await reloads[BOTS.name]()
        await host.bots.start()

    async def schedules() -> None:
        await reloads[SCHEDULES.name]()
        host.core.scheduler.on_schedules_changed()

    async def servers() -> None:
        repository = host.tools.mcp_repository
        before = {server.server_id: server for server in repository.all()}
        await reloads[MCP_SERVERS.name]()
        after = {server.server_id: server for server in repository.all()}
        for server_id in before.keys() | after.keys():
            if before.get(server_id) != after.get(server_id):
                await host.tools.mcp_servers.reload(server_id)

    return {**reloads, BOTS.name: bots, SCHEDULES.name: schedules, MCP_SERVERS.name: servers}

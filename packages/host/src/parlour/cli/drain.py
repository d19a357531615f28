"""`parlour drain`: lets a Host of a cluster give its work to the others, before it is stopped or updated."""

import asyncio
import platform

from parlour.app.data_directory import DataDirectory
from parlour.app.settings import HostSettings
from parlour.core.access import audit
from parlour.core.access.keys import COMMAND_LINE_ACTOR
from parlour.core.cluster import roster
from parlour.core.cluster.roster import HostRecord
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit
from parlour.core.system import SystemClock
from parlour.stores.factory import open_journal

from .main import CommandError

POLL_SECONDS = 0.2


def drain(settings: HostSettings, host: str, undo: bool, seconds: float) -> None:
    """Asks the Host, and waits until it has no part any more."""
    url = settings.database.url.get_secret_value()
    if not settings.cluster.enabled or not url:
        raise CommandError("only a Host of a cluster can be drained: cluster.enabled is not set. Stop this one instead")
    name = host or settings.cluster.name or platform.node()
    try:
        moved = asyncio.run(_drain(url, DataDirectory(settings.data), name, undo, seconds))
    except StorageFailed as failure:
        raise CommandError(failure.message) from failure
    except TimeoutError as error:
        raise CommandError(
            f"'{name}' still has parts after {seconds:g} s; the other Hosts may have none to take them. It goes on"
        ) from error
    print(
        f"{name}: takes parts again" if undo else f"{name}: has no work left ({moved} parts moved); it can be stopped"
    )


async def _drain(url: str, directory: DataDirectory, name: str, undo: bool, seconds: float) -> int:
    async with open_journal(url, directory.database) as journal:
        found = await _find(journal, name)
        action = "host.resume" if undo else "host.drain"
        states = {"host": "draining" if undo else "live"}, {"host": "live" if undo else "draining"}
        entry = audit.change_entry(COMMAND_LINE_ACTOR, action, found.host_id, *states, SystemClock().now())
        try:
            await journal.commit(Unit("host.drain", (roster.set_draining(found.host_id, not undo), entry)))
        except GuardFailed as error:
            raise CommandError(f"'{name}' has just left the cluster") from error
        if not undo:
            async with asyncio.timeout(seconds):
                await _wait_until_idle(journal, found)
        return len(found.parts)


async def _find(journal: Journal, name: str) -> HostRecord:
    hosts = [each for each in (await roster.read_state(journal)).hosts if each.is_live]
    named = [each for each in hosts if name in (each.name, each.host_id)]
    if len(named) == 1:
        return named[0]
    known = ", ".join(f"{each.name} ({each.host_id})" for each in hosts) or "none"
    problem = f"{len(named)} living Hosts are named" if named else "there is no living Host"
    raise CommandError(f"{problem} '{name}'; name one with --host, also by its id. There are: {known}")


async def _wait_until_idle(journal: Journal, host: HostRecord) -> None:
    while True:
        state = await roster.read_state(journal)
        if not any(each.host_id == host.host_id for each in state.parts):
            return
        await asyncio.sleep(POLL_SECONDS)

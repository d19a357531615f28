"""Runs a worker until it is asked to stop, or until its Host refuses it."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from parlour.core.asyncio_utils import first_completed
from parlour.core.backoff import Backoff
from parlour.core.model.ids import PluginId, RuntimeId
from parlour.core.model.plugin_manager import PluginManifestReport
from parlour.core.redaction import Redactor
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.system import SystemClock
from parlour.plugin_runtime.remote.address import read_token
from parlour.plugin_runtime.store import InstalledVersion
from parlour.plugin_runtime.supervision.status import PluginStatusFile
from parlour_sdk.wire import WireError

from ..data_directory import DataDirectory
from ..plugins import LocalPlugins, open_local_plugins
from ..remote_settings import WorkerSettings
from ..settings import HostSettings
from .held_runs import HeldRuns, RunCallRelay
from .link import HostRefused, WorkerIdentity, WorkerLink

logger = logging.getLogger(__name__)

LEAVE_SECONDS = 3.0
"""Seconds for giving runs back and saying goodbye at the end."""


async def serve(settings: HostSettings, version: str, announce: Callable[[str], None], redactor: Redactor) -> None:
    """Serves the Host. `announce` is called once the plugins have started. Raises HostRefused."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # `plugin install` may send it before there is a handler
    directory, worker = DataDirectory(settings.data), settings.worker
    identity = worker_identity(worker, redactor)
    with directory.lock():
        stopping = _stop_signal()
        registry = RunnerRegistry()
        changes = _RunnerChanges(registry)
        plugins = await _open_plugins(settings, directory, version, redactor, changes)
        runs = HeldRuns(plugins.runtime, worker.slots, worker.lease_seconds)
        relay = RunCallRelay(runs)
        plugins.runtime.serve(relay)
        refresh_requested = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, refresh_requested.set)
        try:
            await first_completed(plugins.manager.refresh(), _until(stopping))
            link = WorkerLink(
                identity,
                lambda: [each.runner_id for each in registry.all()],
                runs,
                Backoff(worker.first_retry_seconds, worker.longest_retry_seconds),
            )
            relay.connect(link)
            changes.link = link
            announce(identity.name)
            await _work(link, runs, stopping, _refresh(plugins, refresh_requested), worker.drain_seconds)
        finally:
            await plugins.runtime.close()
            await plugins.programs.close()


class _RunnerChanges:
    """Follows which runners there are, and introduces the worker again when they change."""

    def __init__(self, registry: RunnerRegistry) -> None:
        self._registry = registry
        self.link: WorkerLink | None = None

    def on_discovered(self, plugin: InstalledVersion, report: PluginManifestReport) -> None:
        before = [each.runner_id for each in self._registry.all()]
        self._registry.replace_plugin(plugin.plugin_id, plugin.version, report.runners)
        self._on_changed(before)

    def on_removed(self, plugin_id: PluginId) -> None:
        before = [each.runner_id for each in self._registry.all()]
        self._registry.remove_plugin(plugin_id)
        self._on_changed(before)

    def _on_changed(self, before: list[Any]) -> None:
        if self.link is not None and before != [each.runner_id for each in self._registry.all()]:
            self.link.reconnect("the runners of the worker have changed")


async def _open_plugins(
    settings: HostSettings, directory: DataDirectory, version: str, redactor: Redactor, changes: _RunnerChanges
) -> LocalPlugins:
    status = PluginStatusFile(directory.plugin_status)
    return await open_local_plugins(
        settings,
        directory,
        SystemClock(),
        version,
        redactor,
        changes.on_discovered,
        changes.on_removed,
        _delete_no_storage,
        status,
    )


async def _delete_no_storage(plugin_id: PluginId) -> None:
    """Does nothing: plugin storage is in the database of the Host."""


async def _work(
    link: WorkerLink,
    runs: HeldRuns,
    stopping: asyncio.Event,
    refreshing: Coroutine[Any, Any, None],
    drain_seconds: float,
) -> None:
    """Executes runs until the worker is asked to stop; then lets the active ones end. Raises HostRefused."""
    keeping = asyncio.ensure_future(link.keep())
    beating = asyncio.ensure_future(runs.beat(link))
    others = [asyncio.ensure_future(runs.claim(link)), asyncio.ensure_future(refreshing)]
    stop = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait((keeping, stop), return_when=asyncio.FIRST_COMPLETED)
        if keeping.done():
            await runs.abandon(None)
            keeping.result()
        if len(runs):
            logger.info("the worker stops after its %d active runs, at most %g s from now", len(runs), drain_seconds)
        stopping.clear()
        again = asyncio.ensure_future(stopping.wait())  # a second signal ends it at once
        draining = asyncio.ensure_future(runs.drain(drain_seconds))
        await asyncio.wait((draining, again, keeping), return_when=asyncio.FIRST_COMPLETED)
        again.cancel()
        draining.cancel()
        with contextlib.suppress(TimeoutError, WireError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await runs.abandon(link)
                await link.call("leave", {})
    finally:
        stop.cancel()
        for task in (keeping, beating, *others):
            task.cancel()
        await asyncio.gather(keeping, beating, stop, *others, return_exceptions=True)
        await link.close()


async def _refresh(plugins: LocalPlugins, requested: asyncio.Event) -> None:
    while True:
        await requested.wait()
        requested.clear()
        try:
            await plugins.manager.refresh()
        except Exception:
            logger.exception("the installed plugins could not be reread")


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


async def _until(stopping: asyncio.Event) -> None:
    await stopping.wait()


def worker_identity(worker: WorkerSettings, redactor: Redactor) -> WorkerIdentity:
    """Returns how a worker introduces itself. Raises HostRefused if a setting is missing."""
    if not worker.url:
        raise HostRefused("a worker needs the address of its Host: --host, or the setting worker.url")
    file = worker.token_file
    token = worker.token.get_secret_value()
    if file is None and not token:
        message = "'parlour keys create --scope worker' on the Host makes one"
        raise HostRefused(f"a worker needs an API key: --token, or the setting worker.token_file; {message}")
    return WorkerIdentity(
        url=worker.url,
        token=lambda: token if file is None else read_token(Path(file), redactor),
        name=RuntimeId(worker.name or socket.gethostname()),
        labels=worker.labels,
        slots=worker.slots,
        lease_seconds=worker.lease_seconds,
        workspaces=worker.workspaces,
    )

"""Serves a standalone plugin runtime until it is asked to stop."""

import asyncio
import contextlib
import logging
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from parlour.core.model.ids import PluginId
from parlour.core.model.ports import PluginUnavailable
from parlour.core.redaction import Redactor
from parlour.core.system import SystemClock
from parlour.plugin_runtime.standalone.relay import HostCallRelay
from parlour.plugin_runtime.standalone.service import RuntimeService, UploadRules
from parlour.plugin_runtime.standalone.sessions import HostSessions
from parlour.plugin_runtime.standalone.status_broadcast import BroadcastStatusFile, StatusBroadcast, StatusChanges
from parlour.plugin_runtime.standalone.tokens import Tokens
from parlour.plugin_runtime.supervision.local_runtime import EmbeddedRuntime
from parlour_sdk.wire.websocket import serve_admitted

from .data_directory import DataDirectory
from .plugins import LocalPlugins, open_local_plugins, plugin_policy
from .setting_values import LISTEN_PATTERN
from .settings import HostSettings, PluginSettings

logger = logging.getLogger(__name__)

TOKEN_CHECK_SECONDS = 1.0
"""Seconds between two checks for revoked tokens."""
FILE_OVERHEAD_BYTES = 512
"""Bytes that each file of a package may add to an upload besides its content."""
NO_TOKEN = "No Host may use it yet: 'parlour runtime token create --name NAME' makes a token for one."


class CannotListen(Exception):
    """Raised when the address can't be listened on."""

    code = "port_taken"


async def serve(settings: HostSettings, version: str, announce: Callable[[str, str], None], redactor: Redactor) -> None:
    """Serves the plugin runtime. `announce` is called with its address and a notice when it listens."""
    # `plugin install` may send SIGHUP before there is a handler for it: the start reads the folder anyway.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    directory = DataDirectory(settings.data)
    tokens = Tokens(directory.runtime_tokens)
    with directory.lock():
        async with _open_runtime(settings, directory, version, redactor) as (side, board):
            sessions = HostSessions(lambda: _restart_failed_plugins(side.runtime, tasks))
            tasks = _Tasks()
            side.runtime.serve(HostCallRelay(sessions))
            rules = UploadRules(_clear_folder(directory.folder("uploads")), _upload_bytes(settings.plugins))
            wire = plugin_policy(settings.plugins).wire
            service = RuntimeService(tokens, sessions, side.runtime, side.manager, board, rules, wire, version)
            async with _listen(settings, service) as address:
                notices = (side.notice, "" if tokens.all() else NO_TOKEN)
                announce(address, "\n".join(filter(None, notices)))
                await _run_until_stopped(side, board, service.check_tokens)
                logger.info("the plugin runtime is stopping")
            tasks.cancel()


@contextlib.asynccontextmanager
async def _open_runtime(
    settings: HostSettings, directory: DataDirectory, version: str, redactor: Redactor
) -> AsyncIterator[tuple[LocalPlugins, StatusBroadcast]]:
    changes = StatusChanges()
    status = BroadcastStatusFile(directory.plugin_status, changes)
    side = await open_local_plugins(
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
    try:
        yield side, StatusBroadcast(changes, side.manager.all, side.runtime.supervisors)
    finally:
        await side.runtime.close()


async def _delete_no_storage(plugin_id: PluginId) -> None:
    """Does nothing: plugin storage is in the database of the Host, which deletes it when it requests a removal."""


@contextlib.asynccontextmanager
async def _listen(settings: HostSettings, service: RuntimeService) -> AsyncIterator[str]:
    listen = settings.runtime.listen
    match = LISTEN_PATTERN.fullmatch(listen)
    assert match is not None, "the settings were checked"
    host, port = match["host"].strip("[]"), int(match["port"])
    serving = serve_admitted(
        host,
        port,
        service.admit,
        accepts=service.accepts,
        limits=service.limits,
        patience=settings.runtime.silence_seconds,
    )
    async with contextlib.AsyncExitStack() as stack:
        try:
            port = await stack.enter_async_context(serving)
        except (OSError, OverflowError) as error:
            raise CannotListen(f"can't listen on {listen}: {error}. Choose another address with --listen.") from error
        yield f"ws://{match['host']}:{port}"


async def _run_until_stopped(side: LocalPlugins, board: StatusBroadcast, check: Callable[[], None]) -> None:
    stopping, refresh_requested = asyncio.Event(), asyncio.Event()

    def hang_up() -> None:
        """Handles SIGHUP, by which a command signals that it changed plugins or tokens."""
        refresh_requested.set()
        check()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, hang_up)
    refresh_requested.set()
    refreshing = asyncio.create_task(_refresh(side, board, refresh_requested))
    checking = asyncio.create_task(_check_tokens(check))
    await stopping.wait()
    refreshing.cancel()
    checking.cancel()


async def _check_tokens(check: Callable[[], None]) -> None:
    """Checks for revoked tokens periodically too: a command in another container can't signal this process."""
    while True:
        await asyncio.sleep(TOKEN_CHECK_SECONDS)
        check()


async def _refresh(side: LocalPlugins, board: StatusBroadcast, refresh_requested: asyncio.Event) -> None:
    async def refresh() -> None:
        try:
            with board.poll_changes():
                await side.manager.refresh()
        except Exception:
            logger.exception("the installed plugins could not be reread")

    async with asyncio.TaskGroup() as refreshes:  # concurrently: a plugin that is slow to start delays no other
        while True:
            await refresh_requested.wait()
            refresh_requested.clear()
            refreshes.create_task(refresh())


class _Tasks:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()


def _restart_failed_plugins(runtime: EmbeddedRuntime, tasks: _Tasks) -> None:
    """Restarts failed plugins when a Host connects: some may have failed only because their Host was missing."""
    for plugin_id, supervisor in runtime.supervisors().items():
        if supervisor.status == "failed":
            tasks.add(_restart_plugin(runtime, plugin_id))


async def _restart_plugin(runtime: EmbeddedRuntime, plugin_id: PluginId) -> None:
    with contextlib.suppress(PluginUnavailable):  # it stays failed, with its reason
        await runtime.restart(plugin_id)


def _clear_folder(folder: Path) -> Path:
    """Deletes unfinished uploads that a killed runtime left behind."""
    for each in folder.iterdir():
        shutil.rmtree(each, ignore_errors=True)
    return folder


def _upload_bytes(plugins: PluginSettings) -> int:
    return plugins.package_bytes + FILE_OVERHEAD_BYTES * plugins.package_files

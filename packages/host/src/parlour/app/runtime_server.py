"""Serves a standalone plugin runtime until it is asked to stop."""

import asyncio
import contextlib
import logging
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from parlour.core.model.ports import PluginUnavailable
from parlour.core.system import SystemClock
from parlour.plugin_runtime.standalone.relay import HostCalls
from parlour.plugin_runtime.standalone.service import Service, UploadRules
from parlour.plugin_runtime.standalone.sessions import Sessions
from parlour.plugin_runtime.standalone.status_broadcast import AnnouncedStatus, Board
from parlour.plugin_runtime.standalone.tokens import Tokens
from parlour.plugin_runtime.supervision.local_runtime import EmbeddedRuntime
from parlour_sdk.wire.websocket import serve_admitted

from .data_directory import DataDirectory
from .plugins import LocalSide, open_local_side, policy
from .settings import LISTEN, PluginSettings, Settings

logger = logging.getLogger(__name__)

TOKEN_CHECK_SECONDS = 1.0
"""Seconds between two checks for revoked tokens."""
NAME_BYTES = 512
"""Bytes that each file of a package may add to an upload besides its content."""
NO_TOKEN = "No Host may use it yet: 'parlour runtime token create --name NAME' makes a token for one."


class CannotListen(Exception):
    """Raised when the address can't be listened on."""

    code = "port_taken"


async def serve(settings: Settings, version: str, announce: Callable[[str, str], None]) -> None:
    """Serves the plugin runtime. `announce` is called with its address and a notice when it listens."""
    # `plugin install` may send SIGHUP before there is a handler for it: the start reads the folder anyway.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    directory = DataDirectory(settings.data)
    tokens = Tokens(directory.runtime_tokens)
    with directory.lock():
        async with _opened(settings, directory, version) as (side, board):
            sessions = Sessions(lambda: _encourage(side.runtime, tasks))
            tasks = _Tasks()
            side.runtime.serve(HostCalls(sessions))
            rules = UploadRules(_emptied(directory.folder("uploads")), _upload_bytes(settings.plugins))
            wire = policy(settings.plugins).wire
            service = Service(tokens, sessions, side.runtime, side.keeper, board, rules, wire, version)
            async with _listening(settings, service) as address:
                notices = (side.notice, "" if tokens.all() else NO_TOKEN)
                announce(address, "\n".join(filter(None, notices)))
                await _until_stopped(side, board, service.check_tokens)
                logger.info("the plugin runtime is stopping")
            tasks.cancel()


@contextlib.asynccontextmanager
async def _opened(settings: Settings, directory: DataDirectory, version: str) -> AsyncIterator[tuple[LocalSide, Board]]:
    sides: list[LocalSide] = []
    board = Board(lambda: sides[0].keeper.all(), lambda: sides[0].runtime.supervisors())
    status = AnnouncedStatus(directory.plugin_status, board)
    side = await open_local_side(
        settings, directory, SystemClock(), version, board.discovered, board.removed, _stored_elsewhere, status
    )
    sides.append(side)
    try:
        yield side, board
    finally:
        await side.runtime.close()


async def _stored_elsewhere(plugin_id: str) -> None:
    """Does nothing: plugin storage is in the database of the Host, which deletes it when it requests a removal."""


@contextlib.asynccontextmanager
async def _listening(settings: Settings, service: Service) -> AsyncIterator[str]:
    listen = settings.runtime.listen
    match = LISTEN.fullmatch(listen)
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


async def _until_stopped(side: LocalSide, board: Board, check: Callable[[], None]) -> None:
    stopping, wanted = asyncio.Event(), asyncio.Event()

    def hang_up() -> None:
        """Handles SIGHUP, by which a command signals that it changed plugins or tokens."""
        wanted.set()
        check()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, hang_up)
    wanted.set()
    refreshing = asyncio.create_task(_refresh(side, board, wanted))
    checking = asyncio.create_task(_check_tokens(check))
    await stopping.wait()
    refreshing.cancel()
    checking.cancel()


async def _check_tokens(check: Callable[[], None]) -> None:
    """Checks for revoked tokens periodically too: a command in another container can't signal this process."""
    while True:
        await asyncio.sleep(TOKEN_CHECK_SECONDS)
        check()


async def _refresh(side: LocalSide, board: Board, wanted: asyncio.Event) -> None:
    async def refresh() -> None:
        try:
            with board.working():
                await side.keeper.refresh()
        except Exception:
            logger.exception("the installed plugins could not be reread")

    async with asyncio.TaskGroup() as refreshes:  # concurrently: a plugin that is slow to start delays no other
        while True:
            await wanted.wait()
            wanted.clear()
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


def _encourage(runtime: EmbeddedRuntime, tasks: _Tasks) -> None:
    """Restarts failed plugins when a Host connects: some may have failed only because their Host was missing."""
    for plugin_id, supervisor in runtime.supervisors().items():
        if supervisor.status == "failed":
            tasks.add(_try_again(runtime, plugin_id))


async def _try_again(runtime: EmbeddedRuntime, plugin_id: str) -> None:
    with contextlib.suppress(PluginUnavailable):  # it stays failed, with its reason
        await runtime.restart(plugin_id)


def _emptied(folder: Path) -> Path:
    """Deletes unfinished uploads that a killed runtime left behind."""
    for each in folder.iterdir():
        shutil.rmtree(each, ignore_errors=True)
    return folder


def _upload_bytes(plugins: PluginSettings) -> int:
    return plugins.package_bytes + NAME_BYTES * plugins.package_files

"""One process of a plugin: handshake, service, and a shutdown in bounded time, whatever its cause.

The supervisor does what comes before the launch and after the exit.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Literal

from parlour.core.asyncio_utils import first_completed
from parlour.core.model.plugin_manager import PluginManifestReport
from parlour_sdk.values import dataclass
from parlour_sdk.wire import HUNG_UP, ConnectionClosed, WireError

from ..process.launcher import LaunchSpec, PluginProcess
from ..process.log_buffer import LogBuffer, printable_excerpt
from . import limits
from .active_runs import ActivePluginRuns
from .connection import PluginDispatcher
from .policy import SupervisionPolicy

logger = logging.getLogger(__name__)

MAX_COMPONENTS = 1000
"""Maximum number of runners, and of other components, of one plugin. Each is checked at its start, and each broken one
is reported."""
_LOG_DRAIN_TIMEOUT_SECONDS = 0.5
"""Seconds to read the rest of the log of a process that has exited."""
_REAP_TIMEOUT_SECONDS = 1.0
"""Seconds that a killed process may take to exit."""


@dataclass(frozen=True, slots=True)
class InstanceExit:
    """Why an instance ends, and whether it exited by itself or was stopped."""

    reason: str
    cause: Literal["by itself", "asked", "forced"]


class PluginInstance:
    """One process of a plugin.

    `ready` is set when it may be called, `draining` when it accepts no new runs, `closed` when nothing of it is left.
    """

    def __init__(
        self,
        start: LaunchSpec,
        process: PluginProcess,
        runs: ActivePluginRuns,
        dispatcher: PluginDispatcher,
        log: LogBuffer,
        policy: SupervisionPolicy,
        measure: limits.Measure,
    ) -> None:
        self.folder = start.folder
        self.peer = runs.peer
        self.runs = runs
        self.offer = PluginManifestReport([], [])
        self.ready = asyncio.Event()
        self.draining = asyncio.Event()
        self.closed = asyncio.Event()
        self.reason = ""
        """Why it ended, for display."""
        self._start = start
        self._process = process
        self._dispatcher = dispatcher
        self._log = log
        self._log_start = log.count
        self._policy = policy
        self._measure = measure
        self._stopping = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        self._stopping.set()
        await self.closed.wait()

    async def drain(self) -> None:
        """Accepts no new runs, gives healthy ones some time to end, and stops."""
        self.draining.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._policy.drain_seconds):
                await self.runs.wait_until_idle()
        await self.stop()

    async def _run(self) -> None:
        log_task = asyncio.create_task(self._log.read_stream(self._process.log))
        exit_info = InstanceExit("the Host failed to watch it; the Host's own log says why", "forced")
        try:
            exit_info = await self._serve()
        except Exception:
            logger.exception("watching plugin %s failed; its process is killed", self._start.plugin_id)
        finally:
            self.reason = exit_info.reason
            self.draining.set()
            status = await self._shut_down(exit_info)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(log_task, _LOG_DRAIN_TIMEOUT_SECONDS)
            self._process.close()
            self.reason = _explain(exit_info, status, self._log.last_line(after=self._log_start))
            self.closed.set()

    async def _serve(self) -> InstanceExit:
        allowance = self._policy.resource_limits
        memory_mb = min(self._start.limits.memory_mb, allowance.memory_mb)
        await self._apply_limits()
        self.peer.start()
        return await first_completed(
            self._wait_for_stop(),
            self._serve_connection(),
            _forced_exit(limits.watch_processes(self._process, memory_mb, allowance)),
            _forced_exit(limits.watch_folder(self._start.data, allowance, self._measure_data_folder, self.ready)),
        )

    async def _apply_limits(self) -> None:
        await self._process.apply_limits(self._policy.resource_limits.open_files, self._policy.resource_limits.niceness)

    async def _measure_data_folder(self, folder: Path) -> limits.FolderUse:
        """Measures the data folder, including its open files that have no name any more."""
        usage = await self._measure(folder)
        return limits.FolderUse(usage.size_bytes + await self._process.unlinked_bytes(folder), usage.files)

    async def _wait_for_stop(self) -> InstanceExit:
        await self._stopping.wait()
        return InstanceExit("it was stopped", "asked")

    async def _serve_connection(self) -> InstanceExit:
        try:
            async with asyncio.timeout(self._policy.start_seconds):
                await self._handshake()
        except TimeoutError:
            return InstanceExit(f"it did not start within {self._policy.start_seconds:g} s", "forced")
        except ConnectionClosed:
            return await self._wait_for_close()
        except WireError as error:  # the plugin's own message may contain anything
            return InstanceExit(printable_excerpt(error.message), "forced")
        await self._apply_limits()  # again, for processes that started during the first time
        self.ready.set()
        return await first_completed(
            self._wait_for_close(), _forced_exit(limits.watch_health(self.peer, self._policy.health))
        )

    async def _handshake(self) -> None:
        await first_completed(self._wait_for_hello(), self.peer.wait_closed())
        runners = await self._list("list_agent_runners", "runners")
        self.offer = PluginManifestReport(runners, await self._list("list_components", "components"))

    async def _list(self, action: str, key: str) -> list[Any]:
        answer = await self.peer.call(action, {})
        items = answer.get(key) if isinstance(answer, dict) else None
        if not isinstance(items, list):
            raise WireError("invalid_argument", f"{action} did not answer with a list of {key}")
        if len(items) > MAX_COMPONENTS:
            raise WireError("invalid_argument", f"it has {len(items)} {key}, and {MAX_COMPONENTS} are allowed")
        return items

    async def _wait_for_hello(self) -> Any:
        await asyncio.wait({self._dispatcher.hello_received})

    async def _wait_for_close(self) -> InstanceExit:
        reason = await self.peer.wait_closed()
        return InstanceExit("its process ended" if reason == HUNG_UP else f"it was cut off: {reason}", "by itself")

    async def _shut_down(self, exit_info: InstanceExit) -> int | None:
        """Ends the process within `stop_seconds`, gently first. Returns its exit status, if it has one."""
        seconds = self._policy.stop_seconds
        if exit_info.cause == "asked" and self.ready.is_set():
            with contextlib.suppress(WireError):
                await self.peer.call("shutdown", {}, timeout=seconds / 5)
        self.peer.close(exit_info.reason)
        status = None
        if exit_info.cause != "forced":
            status = await self._exit_within(seconds / 5)
        if status is None and exit_info.cause != "forced":
            await self._process.terminate()
            status = await self._exit_within(seconds * 2 / 5)
        await self._process.kill()
        return await self._exit_within(_REAP_TIMEOUT_SECONDS) if status is None else status

    async def _exit_within(self, seconds: float) -> int | None:
        try:
            return await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return None


async def _forced_exit(watch: Coroutine[Any, Any, str]) -> InstanceExit:
    return InstanceExit(await watch, "forced")


def _explain(exit_info: InstanceExit, status: int | None, last: str) -> str:
    """Returns the reason with the plugin's last log line, which usually says most."""
    exit_note = f" ({_exit_text(status)})" if exit_info.cause == "by itself" and status is not None else ""
    return (
        f"{exit_info.reason}{exit_note}; its log ends with: {printable_excerpt(last)}"
        if last
        else f"{exit_info.reason}{exit_note}"
    )


def _exit_text(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {-status}: {signal.strsignal(-status)}"

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

from parlour.core.model.plugin_manager import Offer
from parlour_sdk.values import dataclass
from parlour_sdk.wire import HUNG_UP, ConnectionClosed, Peer, WireError

from ..process.launcher import PluginProcess, Start
from ..process.log_buffer import LogBuffer, in_brief
from . import health, resources
from .active_runs import Runs
from .connection import PluginDispatcher
from .policy import Policy
from .wait_helpers import first_of

logger = logging.getLogger(__name__)

MOST_OFFERED = 1000
"""Maximum number of runners, and of other components, of one plugin. Each is checked at its start, and each broken one
is reported."""
_LAST_WORDS_SECONDS = 0.5
"""Seconds to read the rest of the log of a process that has exited."""
_BURIAL_SECONDS = 1.0
"""Seconds that a killed process may take to exit."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why an instance ends, and whether it exited by itself or was stopped."""

    reason: str
    manner: Literal["by itself", "asked", "forced"]


class Life:
    """One process of a plugin.

    `ready` is set when it may be called, `draining` when it accepts no new runs, `closed` when nothing of it is left.
    """

    def __init__(
        self,
        start: Start,
        process: PluginProcess,
        peer: Peer,
        dispatcher: PluginDispatcher,
        log: LogBuffer,
        policy: Policy,
        measure: resources.Measure,
    ) -> None:
        self.folder = start.folder
        self.peer = peer
        self.runs = Runs(peer, start.limits.max_runs, policy.health.ignored_cancel_seconds)
        self.offer = Offer([], [])
        self.ready = asyncio.Event()
        self.leaving = asyncio.Event()
        self.over = asyncio.Event()
        self.reason = ""
        """Why it ended, for display."""
        self._start = start
        self._process = process
        self._dispatcher = dispatcher
        self._log = log
        self._log_began = log.count
        self._policy = policy
        self._measure = measure
        self._stopping = asyncio.Event()
        self._task = asyncio.create_task(self._live())

    async def stop(self) -> None:
        self._stopping.set()
        await self.over.wait()

    async def drain(self) -> None:
        """Accepts no new runs, gives healthy ones some time to end, and stops."""
        self.leaving.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._policy.drain_seconds):
                await self.runs.quiet()
        await self.stop()

    async def _live(self) -> None:
        following = asyncio.create_task(self._log.follow(self._process.log))
        ending = Ending("the Host failed to watch it; the Host's own log says why", "forced")
        try:
            ending = await self._served()
        except Exception:
            logger.exception("watching plugin %s failed; its process is killed", self._start.plugin_id)
        finally:
            self.reason = ending.reason
            self.leaving.set()
            status = await self._end(ending)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(following, _LAST_WORDS_SECONDS)
            self._process.close()
            self.reason = _explain(ending, status, self._log.last_line(after=self._log_began))
            self.over.set()

    async def _served(self) -> Ending:
        allowance = self._policy.allowance
        memory_mb = min(self._start.limits.memory_mb, allowance.memory_mb)
        await self._restrain()
        self.peer.start()
        return await first_of(
            self._asked(),
            self._talk(),
            _forced(resources.watch_processes(self._process, memory_mb, allowance)),
            _forced(resources.watch_folder(self._start.data, allowance, self._held, self.ready)),
        )

    async def _restrain(self) -> None:
        await self._process.restrain(self._policy.allowance.open_files, self._policy.allowance.niceness)

    async def _held(self, folder: Path) -> resources.FolderUse:
        """Measures the data folder, including its open files that have no name any more."""
        named = await self._measure(folder)
        return resources.FolderUse(named.size_bytes + await self._process.unlinked_bytes(folder), named.files)

    async def _asked(self) -> Ending:
        await self._stopping.wait()
        return Ending("it was stopped", "asked")

    async def _talk(self) -> Ending:
        try:
            async with asyncio.timeout(self._policy.start_seconds):
                await self._greet()
        except TimeoutError:
            return Ending(f"it did not start within {self._policy.start_seconds:g} s", "forced")
        except ConnectionClosed:
            return await self._closed()
        except WireError as error:  # the plugin's own message may contain anything
            return Ending(in_brief(error.message), "forced")
        await self._restrain()  # again, for processes that started during the first time
        self.ready.set()
        return await first_of(self._closed(), _forced(health.watch(self.peer, self._policy.health)))

    async def _greet(self) -> None:
        await first_of(self._greeted(), self.peer.wait_closed())
        runners = await self._listed("list_agent_runners", "runners")
        self.offer = Offer(runners, await self._listed("list_components", "components"))

    async def _listed(self, action: str, what: str) -> list[Any]:
        answer = await self.peer.call(action, {})
        listed = answer.get(what) if isinstance(answer, dict) else None
        if not isinstance(listed, list):
            raise WireError("invalid_argument", f"{action} did not answer with a list of {what}")
        if len(listed) > MOST_OFFERED:
            raise WireError("invalid_argument", f"it has {len(listed)} {what}, and {MOST_OFFERED} are allowed")
        return listed

    async def _greeted(self) -> Any:
        await asyncio.wait({self._dispatcher.greeted})

    async def _closed(self) -> Ending:
        reason = await self.peer.wait_closed()
        return Ending("its process ended" if reason == HUNG_UP else f"it was cut off: {reason}", "by itself")

    async def _end(self, ending: Ending) -> int | None:
        """Ends the process within `stop_seconds`, gently first. Returns its exit status, if it has one."""
        seconds = self._policy.stop_seconds
        if ending.manner == "asked" and self.ready.is_set():
            with contextlib.suppress(WireError):
                await self.peer.call("shutdown", {}, timeout=seconds / 5)
        self.peer.close(ending.reason)
        status = None
        if ending.manner != "forced":
            status = await self._exit_within(seconds / 5)
        if status is None and ending.manner != "forced":
            await self._process.terminate()
            status = await self._exit_within(seconds * 2 / 5)
        await self._process.kill()
        return await self._exit_within(_BURIAL_SECONDS) if status is None else status

    async def _exit_within(self, seconds: float) -> int | None:
        try:
            return await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return None


async def _forced(watch: Coroutine[Any, Any, str]) -> Ending:
    return Ending(await watch, "forced")


def _explain(ending: Ending, status: int | None, last: str) -> str:
    """Returns the reason with the plugin's last log line, which usually says most."""
    shown = f" ({_ended(status)})" if ending.manner == "by itself" and status is not None else ""
    return f"{ending.reason}{shown}; its log ends with: {in_brief(last)}" if last else f"{ending.reason}{shown}"


def _ended(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {-status}: {signal.strsignal(-status)}"

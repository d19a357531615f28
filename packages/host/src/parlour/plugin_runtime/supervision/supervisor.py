"""Keeps one plugin running: restarts it with back-off, starts a fresh process beside an old one, or gives it up."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from parlour.core.model.plugin_manager import Offer
from parlour.core.model.ports import PluginUnavailable, ResultStream
from parlour_sdk.wire import Peer

from ..process.log_buffer import LogBuffer
from ..store import Installed
from .active_runs import Runs
from .instance import Life
from .policy import Policy
from .restart_policy import Failures
from .run_queue import PluginRun, Queue
from .starter import Starter, StartFailed, StartRefused

logger = logging.getLogger(__name__)


class Supervisor:
    """Supervises one plugin across its versions.

    At most one process accepts new runs; others may be finishing theirs.
    """

    def __init__(
        self,
        plugin: Installed,
        starter: Starter,
        log: LogBuffer,
        policy: Policy,
        discovered: Callable[[Installed, Offer], None],
        changed: Callable[[], None],
    ) -> None:
        self.plugin = plugin
        """The version that is started if nothing runs."""
        self.status = "starting"
        """`starting`, `ready`, `waiting` (for its next start), `failed` (given up, for a while or permanently) or
        `stopped`."""
        self.reason = ""
        """Why it does not serve, or another remark."""
        self.proven = False
        """True after it was ready once or was given up."""
        self.log = log
        self._starter = starter
        self._policy = policy
        self._discovered = discovered
        self._tell = changed
        self._life: Life | None = None
        self._draining: set[Life] = set()
        self._queue = Queue()
        self._failures = Failures(policy.restart, asyncio.get_running_loop().time)
        self._beginning = asyncio.Lock()
        self._renewing = False
        self._news = asyncio.Event()
        self._stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._task(self._supervise())

    @property
    def peer(self) -> Peer | None:
        """The open connection, if there is one."""
        return self._life.peer if self._life else None

    def folders(self) -> set[Path]:
        """Returns the folders whose code is in use, including those of processes that only finish their runs."""
        return {self.plugin.folder, *(life.folder for life in self._draining)}

    def run(self, request: dict[str, Any]) -> ResultStream:
        """Returns the results of a run, which waits for the plugin and for a free slot.

        They raise PluginUnavailable if the plugin does not become available.
        """
        run = PluginRun(request, self._policy.start_seconds, self._absence)
        self._queue.add(run)
        self._hand_out()
        return run

    async def call(self, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        begun = asyncio.get_running_loop().time()
        runs = await self.ready(timeout)
        waited = asyncio.get_running_loop().time() - begun
        return await runs.call(action, data, timeout - waited)

    async def stream(self, action: str, data: dict[str, Any]) -> ResultStream:
        return (await self.ready()).stream(action, data)

    async def ready(self, patience: float = inf) -> Runs:
        """Waits while the plugin starts or is about to. Raises PluginUnavailable if it does not become ready."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(patience, self._policy.start_seconds)):
                while (self._life is None or self._life.peer.closed) and not self._is_hopeless():
                    await self._news.wait()
        if self._life is None:
            raise PluginUnavailable(self._absence())
        return self._life.runs

    async def settled(self) -> None:
        """Returns when the first start has succeeded or failed."""
        while self.status == "starting":
            await self._news.wait()

    async def replace(self, plugin: Installed) -> None:
        """Starts a fresh process of this version, which serves from now on; the one before finishes its runs.

        Raises PluginUnavailable if the fresh one does not become ready; the one before then keeps serving.
        """
        self._failures.forget()
        try:
            await asyncio.shield(self._task(self._take_over(plugin)))
        except StartFailed as failure:
            raise PluginUnavailable(f"plugin {plugin.plugin_id} is not ready: {failure}") from None

    async def retire(self) -> None:
        """Accepts no new runs, lets the current ones finish as after an upgrade, and stops."""
        life, self._life = self._life, None
        self._stopping.set()
        if life is not None:
            self._draining.add(life)
            self._become("stopped", f"it was stopped and finishes its runs: {life.runs.healthy}")
            await life.drain()
        await self.stop()

    async def stop(self) -> None:
        self._stopping.set()
        self._inform()
        lives = [*self._draining, self._life] if self._life else [*self._draining]
        await asyncio.gather(*(life.stop() for life in lives))
        while self._tasks:
            await asyncio.wait(self._tasks)
        self._become("stopped", "it was stopped")
        self.log.close()

    async def _supervise(self) -> None:
        reason = ""
        while not self._stopping.is_set():
            refused = False
            try:
                await self._begin(f"it was started again after this: {reason}" if reason else "")
                reason = await self._until_down()
            except StartFailed as failure:
                reason, refused = str(failure), isinstance(failure, StartRefused)
            except Exception as error:
                logger.exception("supervising plugin %s failed", self.plugin.plugin_id)
                reason = f"the Host failed with {type(error).__name__}; its log says where"
            if self._life is None and not self._stopping.is_set():
                await self._back_off(reason, None if refused else self._failures.another())

    async def _begin(self, remark: str) -> None:
        async with self._beginning:
            if self._life is None:  # otherwise a replacement was faster
                self._adopt(self.plugin, await self._starter.begin(self.plugin, self.log, self._stopping), remark)

    async def _until_down(self) -> str:
        """Returns why no process serves any more. One may have replaced another before that."""
        while life := self._life:
            await life.leaving.wait()
            if life is self._life:
                self._life = None
                self._become("waiting", life.reason)
                await life.over.wait()
                return life.reason
        return self.reason

    async def _back_off(self, reason: str, delay: float | None) -> None:
        """Waits until the plugin may start again, or until it runs for another reason.

        Without a delay it may not start again by itself.
        """
        name = self.plugin.plugin_id
        if delay is None or self._failures.too_many:
            logger.error("plugin %s is given up after %d failures: %s", name, max(self._failures.count, 1), reason)
            self._become("failed", reason + self._failures.in_words())
        else:
            logger.warning("plugin %s ended (%s); it starts again in %g s", name, reason, delay)
            self._become("waiting", reason)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                while self._life is None and not self._stopping.is_set():
                    await self._news.wait()

    async def _take_over(self, plugin: Installed, remark: str = "") -> None:
        try:
            async with self._beginning:
                self._adopt(plugin, await self._starter.begin(plugin, self.log, self._stopping), remark)
        except StartFailed as failure:
            self._become(self.status, str(failure) if self.status == "failed" else self.reason)
            raise

    def _adopt(self, plugin: Installed, life: Life, remark: str = "") -> None:
        before, self._life, self.plugin = self._life, life, plugin
        life.runs.on_free = self._hand_out
        life.runs.on_deaf = partial(self._renew, life)
        if before is not None:
            self._draining.add(before)
            self._task(self._drain(before, remark))
            if before.runs.healthy:
                remark = f"{remark}; " if remark else ""
                remark += f"runs that go on in the process before it: {before.runs.healthy}"
        self._become("ready", remark)
        self._discovered(plugin, life.offer)

    async def _drain(self, life: Life, remark: str) -> None:
        await life.drain()
        self._draining.discard(life)
        if self.status == "ready" and not self._draining:
            self._become("ready", remark)

    def _renew(self, life: Life) -> None:
        if life is self._life and not self._renewing:
            self._renewing = True
            self._task(self._renewed(life))

    async def _renewed(self, life: Life) -> None:
        """Starts a fresh process, since runs that ignore their cancellation end only with their process."""
        seconds = self._policy.health.ignored_cancel_seconds
        why = f"runs that went on for {seconds:g} s after their cancellation: {life.runs.deaf}"
        logger.warning("plugin %s: %s; starting a fresh process", self.plugin.plugin_id, why)
        try:
            await self._take_over(self.plugin, f"{why}; a fresh process took over")
        except StartFailed as failure:
            if life is self._life:
                self._become("ready", f"{why}; a fresh process did not start: {failure}")
        finally:
            self._renewing = False

    def _hand_out(self) -> None:
        if self._life is not None:
            self._queue.hand_to(self._life.runs)
        elif self._is_hopeless():
            self._queue.fail(self._absence())

    def _is_hopeless(self) -> bool:
        return self.status in ("failed", "stopped") and not self._beginning.locked()

    def _absence(self) -> str:
        """Returns why the plugin is unavailable; empty while it is available."""
        return "" if self._life else f"plugin {self.plugin.plugin_id} is {self.status}: {self.reason}"

    def _become(self, status: str, reason: str) -> None:
        self.status, self.reason = status, reason
        self.proven = self.proven or status in ("ready", "failed")
        self._inform()

    def _inform(self) -> None:
        self._hand_out()
        self._news.set()
        self._news = asyncio.Event()
        self._tell()

    def _task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

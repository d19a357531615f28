"""Keeps one plugin running: restarts it with back-off, starts a fresh process beside an old one, or gives it up."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from math import inf
from pathlib import Path
from typing import Any

from parlour.core.model.plugin_manager import PluginManifestReport
from parlour.core.model.ports import PluginUnavailable, ResultStream
from parlour_sdk.wire import Peer

from ..process.log_buffer import LogBuffer
from ..store import InstalledVersion
from .active_runs import ActivePluginRuns
from .instance import PluginInstance
from .policy import FailureWindow, SupervisionPolicy
from .run_queue import PluginRun, PluginRunQueue
from .starter import Starter, StartFailed, StartRefused

logger = logging.getLogger(__name__)


class Supervisor:
    """Supervises one plugin across its versions.

    At most one process accepts new runs; others may be finishing theirs.
    """

    def __init__(
        self,
        plugin: InstalledVersion,
        starter: Starter,
        log: LogBuffer,
        policy: SupervisionPolicy,
        discovered: Callable[[InstalledVersion, PluginManifestReport], None],
        changed: Callable[[], None],
    ) -> None:
        self.plugin = plugin
        """The version that is started if nothing runs."""
        self.status = "starting"
        """`starting`, `ready`, `waiting` (for its next start), `failed` (given up, for a while or permanently) or
        `stopped`."""
        self.reason = ""
        """Why it does not serve, or another remark."""
        self.is_ready = False
        """True after it was ready once or was given up."""
        self.log = log
        self._starter = starter
        self._policy = policy
        self._discovered = discovered
        self._on_change = changed
        self._instance: PluginInstance | None = None
        self._draining: set[PluginInstance] = set()
        self._queue = PluginRunQueue()
        self._failures = FailureWindow(policy.restart, asyncio.get_running_loop().time)
        self._start_lock = asyncio.Lock()
        self._is_replacing = False
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._task(self._supervise())

    @property
    def peer(self) -> Peer | None:
        """The open connection, if there is one."""
        return self._instance.peer if self._instance else None

    def folders(self) -> set[Path]:
        """Returns the folders whose code is in use, including those of processes that only finish their runs."""
        return {self.plugin.folder, *(instance.folder for instance in self._draining)}

    def run(self, request: dict[str, Any]) -> ResultStream:
        """Returns the results of a run, which waits for the plugin and for a free slot.

        They raise PluginUnavailable if the plugin does not become available.
        """
        run = PluginRun(request, self._policy.start_seconds, self._unavailable_reason)
        self._queue.add(run)
        self._start_queued_runs()
        return run

    async def call(self, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        started_at = asyncio.get_running_loop().time()
        runs = await self.ready(timeout)
        waited = asyncio.get_running_loop().time() - started_at
        return await runs.call(action, data, timeout - waited)

    async def stream(self, action: str, data: dict[str, Any]) -> ResultStream:
        return (await self.ready()).stream(action, data)

    async def ready(self, timeout: float = inf) -> ActivePluginRuns:
        """Waits while the plugin starts or is about to. Raises PluginUnavailable if it does not become ready."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(timeout, self._policy.start_seconds)):
                while (self._instance is None or self._instance.peer.closed) and not self._is_given_up():
                    await self._changed.wait()
        if self._instance is None:
            raise PluginUnavailable(self._unavailable_reason())
        return self._instance.runs

    async def wait_until_started(self) -> None:
        """Returns when the first start has succeeded or failed."""
        while self.status == "starting":
            await self._changed.wait()

    async def replace(self, plugin: InstalledVersion) -> None:
        """Starts a fresh process of this version, which serves from now on; the one before finishes its runs.

        Raises PluginUnavailable if the fresh one does not become ready; the one before then keeps serving.
        """
        self._failures.clear()
        try:
            await asyncio.shield(self._task(self._start_replacement(plugin)))
        except StartFailed as failure:
            raise PluginUnavailable(f"plugin {plugin.plugin_id} is not ready: {failure}") from None

    async def retire(self) -> None:
        """Accepts no new runs, lets the current ones finish as after an upgrade, and stops."""
        instance, self._instance = self._instance, None
        self._stopping.set()
        if instance is not None:
            self._draining.add(instance)
            self._set_status("stopped", f"it was stopped and finishes its runs: {instance.runs.healthy_count}")
            await instance.drain()
        await self.stop()

    async def stop(self) -> None:
        self._stopping.set()
        self._notify()
        instances = [*self._draining, self._instance] if self._instance else [*self._draining]
        await asyncio.gather(*(instance.stop() for instance in instances))
        while self._tasks:
            await asyncio.wait(self._tasks)
        self._set_status("stopped", "it was stopped")
        self.log.close()

    async def _supervise(self) -> None:
        reason = ""
        while not self._stopping.is_set():
            refused = False
            try:
                await self._start(f"it was started again after this: {reason}" if reason else "")
                reason = await self._wait_until_down()
            except StartFailed as failure:
                reason, refused = str(failure), isinstance(failure, StartRefused)
            except Exception as error:
                logger.exception("supervising plugin %s failed", self.plugin.plugin_id)
                reason = f"the Host failed with {type(error).__name__}; its log says where"
            if self._instance is None and not self._stopping.is_set():
                await self._back_off(reason, None if refused else self._failures.record())

    async def _start(self, remark: str) -> None:
        async with self._start_lock:
            if self._instance is None:  # otherwise a replacement was faster
                self._activate(self.plugin, await self._start_instance(self.plugin), remark)

    async def _wait_until_down(self) -> str:
        """Returns why no process serves any more. One may have replaced another before that."""
        while instance := self._instance:
            await instance.draining.wait()
            if instance is self._instance:
                self._instance = None
                self._set_status("waiting", instance.reason)
                await instance.closed.wait()
                return instance.reason
        return self.reason

    async def _back_off(self, reason: str, delay: float | None) -> None:
        """Waits until the plugin may start again, or until it runs for another reason.

        Without a delay it may not start again by itself.
        """
        name = self.plugin.plugin_id
        if delay is None or self._failures.too_many:
            logger.error("plugin %s is given up after %d failures: %s", name, max(self._failures.count, 1), reason)
            self._set_status("failed", reason + self._failures.advice())
        else:
            logger.warning("plugin %s ended (%s); it starts again in %g s", name, reason, delay)
            self._set_status("waiting", reason)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                while self._instance is None and not self._stopping.is_set():
                    await self._changed.wait()

    async def _start_replacement(self, plugin: InstalledVersion, remark: str = "") -> None:
        try:
            async with self._start_lock:
                self._activate(plugin, await self._start_instance(plugin), remark)
        except StartFailed as failure:
            self._set_status(self.status, str(failure) if self.status == "failed" else self.reason)
            raise

    async def _start_instance(self, plugin: InstalledVersion) -> PluginInstance:
        return await self._starter.start(plugin, self.log, self._stopping, self)

    def _activate(self, plugin: InstalledVersion, instance: PluginInstance, remark: str = "") -> None:
        before, self._instance, self.plugin = self._instance, instance, plugin
        if before is not None:
            self._draining.add(before)
            self._task(self._drain(before, remark))
            if before.runs.healthy_count:
                remark = f"{remark}; " if remark else ""
                remark += f"runs that go on in the process before it: {before.runs.healthy_count}"
        self._set_status("ready", remark)
        self._discovered(plugin, instance.offer)

    async def _drain(self, instance: PluginInstance, remark: str) -> None:
        await instance.drain()
        self._draining.discard(instance)
        if self.status == "ready" and not self._draining:
            self._set_status("ready", remark)

    def on_run_ended(self) -> None:
        self._start_queued_runs()

    def on_run_stuck(self, runs: ActivePluginRuns) -> None:
        """Replaces the process of a run that continues after its cancellation, if it is the one that serves."""
        instance = self._instance
        if instance is not None and instance.runs is runs and not self._is_replacing:
            self._is_replacing = True
            self._task(self._replace_stuck_instance(instance))

    async def _replace_stuck_instance(self, instance: PluginInstance) -> None:
        """Starts a fresh process, since runs that ignore their cancellation end only with their process."""
        seconds = self._policy.health.ignored_cancel_seconds
        why = f"runs that went on for {seconds:g} s after their cancellation: {instance.runs.stuck_count}"
        logger.warning("plugin %s: %s; starting a fresh process", self.plugin.plugin_id, why)
        try:
            await self._start_replacement(self.plugin, f"{why}; a fresh process took over")
        except StartFailed as failure:
            if instance is self._instance:
                self._set_status("ready", f"{why}; a fresh process did not start: {failure}")
        finally:
            self._is_replacing = False

    def _start_queued_runs(self) -> None:
        if self._instance is not None:
            self._queue.start_runs(self._instance.runs)
        elif self._is_given_up():
            self._queue.fail(self._unavailable_reason())

    def _is_given_up(self) -> bool:
        return self.status in ("failed", "stopped") and not self._start_lock.locked()

    def _unavailable_reason(self) -> str:
        """Returns why the plugin is unavailable; empty while it is available."""
        return "" if self._instance else f"plugin {self.plugin.plugin_id} is {self.status}: {self.reason}"

    def _set_status(self, status: str, reason: str) -> None:
        self.status, self.reason = status, reason
        self.is_ready = self.is_ready or status in ("ready", "failed")
        self._notify()

    def _notify(self) -> None:
        self._start_queued_runs()
        self._changed.set()
        self._changed = asyncio.Event()
        self._on_change()

    def _task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

"""Keeps one plugin's process alive: launch, handshake, discovery, watch, restart with back-off, give up visibly."""

import asyncio
import contextlib
import logging
import signal
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from parlour.core.ports import PluginUnavailable
from parlour_sdk.wire import Limits, Peer, StdioTransport, WireError

from .connection import HostActions, PluginDispatcher
from .folder import Installed
from .launcher import Launcher, PluginProcess, Start
from .logs import LogBuffer

logger = logging.getLogger(__name__)

Status = Literal["starting", "ready", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    start_seconds: float = 30.0
    stop_seconds: float = 5.0
    first_delay: float = 1.0
    longest_delay: float = 60.0
    give_up_after: int = 5
    within_seconds: float = 600.0


class Supervisor:
    def __init__(
        self,
        plugin: Installed,
        launcher: Launcher,
        prepare: Callable[[Installed], Awaitable[Start]],
        actions: HostActions,
        discovered: Callable[[Installed, list[Any]], None],
        host_version: str,
        policy: RestartPolicy,
        limits: Limits,
        changed: Callable[[], None],
    ) -> None:
        self.plugin = plugin
        self.status: Status = "starting"
        self.reason = ""
        self.proven = False
        """It was ready once, or was given up."""
        self.log = LogBuffer()
        self._launcher = launcher
        self._prepare = prepare
        self._actions = actions
        self._discovered = discovered
        self._host_version = host_version
        self._policy = policy
        self._limits = limits
        self._tell = changed
        self._failures: deque[float] = deque()
        self._peer: Peer | None = None
        self._changed = asyncio.Condition()
        self._stopping = asyncio.Event()
        self._task = asyncio.create_task(self._supervise())

    @property
    def peer(self) -> Peer | None:
        """The live connection, if there is one."""
        return self._peer

    async def ready(self) -> Peer:
        """Waits while the plugin starts or is about to; raises PluginUnavailable when it does not come."""
        try:
            async with asyncio.timeout(self._policy.start_seconds), self._changed:
                await self._changed.wait_for(lambda: self._peer or self.status in ("failed", "stopped"))
        except TimeoutError:
            raise PluginUnavailable(f"plugin {self.plugin.plugin_id} is not ready: {self.reason}") from None
        if self._peer is None:
            raise PluginUnavailable(f"plugin {self.plugin.plugin_id} is {self.status}: {self.reason}")
        return self._peer

    async def settled(self) -> None:
        """Returns when the first start has succeeded or failed."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.status != "starting")

    async def stop(self) -> None:
        self._stopping.set()
        await self._task

    async def _supervise(self) -> None:
        while not self._stopping.is_set():
            process = None
            try:
                process = await self._launcher.launch(await self._prepare(self.plugin))
                await self._serve(process)
                reason = "its process ended"
            except (WireError, TimeoutError, OSError) as error:
                reason = str(error) or "it did not start in time"
            finally:
                self._peer = None
                code = await self._end(process) if process else None
            if self._stopping.is_set():
                break
            await self._back_off(self._explain(reason, code))
        await self._become("stopped", "it was stopped")

    async def _serve(self, process: PluginProcess) -> None:
        """From the launch until the connection or the process ends, or it is told to stop."""
        dispatcher = PluginDispatcher(self.plugin.plugin_id, self._actions, self._host_version)
        transport = StdioTransport(process.read_fd, process.write_fd, self._limits)
        peer = Peer(transport, dispatcher, self._limits, name=self.plugin.plugin_id)
        following = asyncio.create_task(self.log.follow(process.log))
        peer.start()
        try:
            async with asyncio.timeout(self._policy.start_seconds):
                await self._greet(peer, dispatcher)
            self._peer = peer
            await self._become("ready", "")
            await _first_of(peer.wait_closed(), self._stopping.wait())
            if self._stopping.is_set():
                with contextlib.suppress(WireError):
                    await peer.call("shutdown", {}, timeout=self._policy.stop_seconds / 2)
        finally:
            peer.close("the Host stops this plugin")
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(following, 1.0)

    async def _greet(self, peer: Peer, dispatcher: PluginDispatcher) -> None:
        await _first_of(dispatcher.greeted, peer.wait_closed())
        answer = await peer.call("list_agent_runners", {})
        runners = answer.get("runners") if isinstance(answer, dict) else None
        if not isinstance(runners, list):
            raise WireError("invalid_argument", "list_agent_runners did not answer with a list of runners")
        self._discovered(self.plugin, runners)

    async def _end(self, process: PluginProcess) -> int:
        """The whole group ends, gently first."""
        process.kill_group(signal.SIGTERM)
        try:
            async with asyncio.timeout(self._policy.stop_seconds):
                return await process.wait()
        except TimeoutError:
            return -signal.SIGKILL
        finally:
            process.kill_group(signal.SIGKILL)
            await process.wait()

    async def _back_off(self, reason: str) -> None:
        loop = asyncio.get_running_loop()
        self._failures.append(loop.time())
        while self._failures[0] < loop.time() - self._policy.within_seconds:
            self._failures.popleft()
        count = len(self._failures)
        if count >= self._policy.give_up_after:
            logger.error("plugin %s is given up after %d failures: %s", self.plugin.plugin_id, count, reason)
            await self._become("failed", reason)
            await self._stopping.wait()
            return
        delay = min(self._policy.first_delay * 2 ** (count - 1), self._policy.longest_delay)
        logger.warning("plugin %s ended (%s); it starts again in %g s", self.plugin.plugin_id, reason, delay)
        await self._become("waiting", reason)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), delay)

    def _explain(self, reason: str, code: int | None) -> str:
        """The plugin's own last words say most."""
        status = "" if code is None else f" (exit status {code})"
        last = next((line for line in reversed(self.log.lines()) if line.strip()), "")
        return f"{reason}{status}; its log ends with: {last[:500]}" if last else f"{reason}{status}"

    async def _become(self, status: Status, reason: str) -> None:
        async with self._changed:
            self.status, self.reason = status, reason
            self.proven = self.proven or status in ("ready", "failed")
            self._changed.notify_all()
        self._tell()


async def _first_of(*awaitables: Any) -> None:
    """Returns when one is done; the others are cancelled unless they are somebody else's futures."""
    owned = [asyncio.ensure_future(each) for each in awaitables]
    foreign = {each for each in awaitables if isinstance(each, asyncio.Future)}
    try:
        await asyncio.wait(owned, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future in owned:
            if future not in foreign:
                future.cancel()

"""Claims runs, executes them, keeps their leases, and relays the calls that their plugins make to the Host."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.backoff import Backoff
from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId, RunId
from parlour.core.model.ports import PluginCaller
from parlour.http.workers import messages
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.wire import ConnectionClosed, Peer, WireError

from .held_run import HeldRun
from .link import WorkerLink

logger = logging.getLogger(__name__)

BEATS_PER_LEASE: Final = 3
POLL_SECONDS: Final = 30.0
"""Seconds without a notice after which the worker asks for runs all the same."""
HOST_WAIT_SECONDS: Final = 10.0
"""Seconds that a plugin's call waits for a connection with the Host."""
OUTSIDE_RUNS: Final = "a worker calls the Host for the runs that it executes only"


class HeldRuns:
    """The runs of this worker. It receives the notices of the Host."""

    def __init__(self, plugins: PluginCaller, slots: int, lease_seconds: float) -> None:
        self._plugins = plugins
        self._slots = slots
        self._lease_seconds = lease_seconds
        self._runs: dict[RunId, HeldRun] = {}
        self._tasks = BackgroundTasks("a run could not be executed")
        self._wanted = asyncio.Event()
        self._is_draining = False

    def __len__(self) -> int:
        return len(self._runs)

    def held(self) -> Mapping[RunId, str]:
        return {run_id: run.claim.lease for run_id, run in self._runs.items()}

    def get(self, plugin_id: PluginId, run_id: str) -> HeldRun | None:
        """Returns a run that this plugin executes."""
        run = self._runs.get(RunId(run_id))
        return run if run is not None and run.claim.plugin_id == plugin_id else None

    def on_connected(self) -> None:
        self._wanted.set()

    def on_queued(self) -> None:
        self._wanted.set()

    def on_ended(self, run_id: RunId) -> None:
        run = self._runs.get(run_id)
        if run is not None:
            run.stop()

    async def claim(self, link: WorkerLink) -> None:
        """Claims runs as long as slots are free, until the worker drains."""
        retries = Backoff(0.1, 5.0)
        while not self._is_draining:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wanted.wait()
            self._wanted.clear()
            try:
                while not self._is_draining and len(self._runs) < self._slots and await self._claim_one(link):
                    retries.reset()
            except WireError as error:
                if not isinstance(error, ConnectionClosed):
                    logger.warning("no run can be claimed now: %s", error.message)
                    await asyncio.sleep(retries.next_delay())
                    self._wanted.set()

    async def beat(self, link: WorkerLink) -> None:
        """Sends heartbeats, which renew the leases."""
        interval = self._lease_seconds / BEATS_PER_LEASE
        while True:
            await asyncio.sleep(interval)
            held = [messages.RunLease(run_id=run_id, lease=lease) for run_id, lease in self.held().items()]
            sent_at = asyncio.get_running_loop().time()
            try:
                answer = await link.call("beat", messages.Beat(held=held).model_dump(), timeout=interval)
            except WireError as error:
                logger.debug("a heartbeat was not answered: %s", error.message)
                if error.code == "not_found":  # the Host counts this worker as gone
                    link.reconnect("the worker registers again")
                continue
            lost = set(messages.parse(messages.BeatAnswer, answer).lost)
            for each in held:
                run = self._runs.get(each.run_id)
                if run is None or run.claim.lease != each.lease:
                    continue
                if each.run_id in lost:
                    run.stop()
                else:
                    run.extend(sent_at + self._lease_seconds)

    async def drain(self, seconds: float) -> None:
        """Claims no more, and returns when all runs have ended or this time is over."""
        self._is_draining = True
        self._wanted.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._tasks.join()

    async def abandon(self, link: WorkerLink | None) -> None:
        """Stops all runs, and gives them back to the Host if there is one."""
        self._is_draining = True
        abandoned = list(self._runs.values())
        for run in abandoned:
            run.stop()
        await self._tasks.join()
        if link is None:
            return
        for run in abandoned:
            fields = {"run_id": run.run_id, "lease": run.claim.lease}
            with contextlib.suppress(WireError):
                await link.call("release", fields)

    async def _claim_one(self, link: WorkerLink) -> bool:
        peer = await link.connected()
        claimed_at, number = asyncio.get_running_loop().time(), link.number
        answer = messages.parse(messages.ClaimAnswer, await peer.call("claim", {}))
        if answer.run is None:
            return False
        run = HeldRun(answer.run, number, claimed_at + self._lease_seconds, self._plugins)
        self._runs[run.run_id] = run
        self._tasks.start(self._execute(run, link))
        return True

    async def _execute(self, run: HeldRun, link: WorkerLink) -> None:
        logger.debug("run %s: executed with %s", run.run_id, run.claim.runner_id)
        try:
            await run.execute(link)
        finally:
            self._runs.pop(run.run_id, None)
            self._wanted.set()


class RunCallRelay:
    """The actions that plugins of a worker may call: those of their runs, which the Host authorizes."""

    def __init__(self, runs: HeldRuns, seconds: float = HOST_WAIT_SECONDS) -> None:
        self._runs = runs
        self._seconds = seconds
        self._link: WorkerLink | None = None

    def connect(self, link: WorkerLink) -> None:
        """Sets the connection that is used. Plugins are started before it, since it says which runners there are."""
        self._link = link

    def streams(self, name: str) -> bool:
        return name in HOST_ACTIONS and HOST_ACTIONS[name].streams

    async def call(self, plugin_id: PluginId, name: str, data: Any) -> Any:
        request = self._request(plugin_id, name, data)
        peer = await self._peer()
        try:
            return await peer.call("call", request)
        except WireError as error:
            raise _to_rejection(error) from error

    async def stream(self, plugin_id: PluginId, name: str, data: Any) -> AsyncGenerator[Any, None]:
        request = self._request(plugin_id, name, data)
        peer = await self._peer()
        try:
            async with aclosing(peer.stream("stream", request)) as parts:
                async for part in parts:
                    yield part
        except WireError as error:
            raise _to_rejection(error) from error

    def _request(self, plugin_id: PluginId, name: str, data: Any) -> dict[str, Any]:
        run_id = data.get("run_id") if isinstance(data, dict) else None
        if not isinstance(run_id, str):
            raise CallRejected("denied", OUTSIDE_RUNS)
        run = self._runs.get(plugin_id, run_id)
        if run is None:
            raise CallRejected("unauthorized", "this worker does not execute the run any more")
        return {"name": name, "data": {**data, "lease": run.claim.lease}}

    async def _peer(self) -> Peer:
        try:
            async with asyncio.timeout(self._seconds):
                if self._link is None:
                    raise TimeoutError
                return await self._link.connected()
        except TimeoutError as error:
            raise CallRejected("runtime_error", "the Host can't be reached at this moment", retryable=True) from error


def _to_rejection(error: WireError) -> CallRejected:
    if isinstance(error, ConnectionClosed):
        message = "the connection to the Host was lost; whether the call was carried out is not known"
        return CallRejected("runtime_error", message)
    return messages.from_wire_error(error)

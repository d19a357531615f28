"""Serves the calls of one connection of a worker process, under the labels and runners of its API key."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any

from parlour.core.access.keys import ApiKeyRecord, ApiKeys
from parlour.core.actions.gate import Gate
from parlour.core.errors import CallRejected
from parlour.core.model.ids import RunId
from parlour.core.model.ports import Clock
from parlour.core.observability.metrics import Metrics
from parlour.core.remote.executions import CLAIM_LOST, KEY_INVALID, WORKER_STOPPED, RemoteExecutions
from parlour.core.remote.queue import RemoteRunQueue
from parlour.core.remote.run_index import WorkerFilter
from parlour.core.remote.workers import RemoteWorkers, WorkerOwner
from parlour.core.runs.session import RunTermination
from parlour.core.store.remote_workers import RemoteWorker
from parlour.version import VERSION
from parlour_sdk.values import dataclass
from parlour_sdk.wire import Peer, WireError

from . import messages
from .connections import WorkerConnection, WorkerConnections
from .messages import WORKER_PROTOCOL_VERSION, parse, to_wire_error

logger = logging.getLogger(__name__)

KEY_CHECK_SECONDS = 1.0
"""Seconds between two checks for a revoked key."""
WAIT_METRIC = "parlour_remote_wait_seconds"


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """What the sessions of workers use."""

    keys: ApiKeys
    workers: RemoteWorkers
    queue: RemoteRunQueue
    executions: RemoteExecutions
    gate: Gate
    metrics: Metrics
    clock: Clock


class WorkerSession:
    """Serves one connection. The first call is hello."""

    def __init__(self, key: ApiKeyRecord, services: WorkerServices, connections: WorkerConnections) -> None:
        self._key = key
        self._owner = WorkerOwner(key_id=key.key_id)
        self._services = services
        self._connections = connections
        self._runtime: RemoteWorker | None = None
        self._actions: dict[str, Callable[[RemoteWorker, Any], Awaitable[Any]]] = {
            "claim": self._claim,
            "beat": self._beat,
            "start": self._start,
            "results": self._results,
            "finish": self._finish,
            "release": self._release,
            "leave": self._leave,
            "call": self._call,
        }
        self._streams: dict[str, Callable[[RemoteWorker, Any], AsyncGenerator[Any, None]]] = {
            "watch": self._watch,
            "stream": self._stream,
        }
        self.peer: Peer | None = None

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action == "hello":
            return self._hello(data)
        if self._runtime is None:
            raise WireError("unauthorized", "the first call on a connection is hello")
        if action in self._streams:
            return self._serve_stream(self._streams[action](self._runtime, data))
        if action in self._actions:
            return self._serve_call(self._actions[action](self._runtime, data))
        raise WireError("not_supported", f"the connection of a worker has no action '{action}'")

    async def watch_key(self) -> None:
        """Returns when the key is not valid any more."""
        while True:
            await asyncio.sleep(KEY_CHECK_SECONDS)
            key = await self._services.keys.get(self._key.key_id)
            if key is None or not key.is_valid(self._services.clock.now()):
                return

    async def end_registration(self) -> None:
        """Releases the worker's runs, because its key is not valid any more."""
        if self._runtime is not None:
            logger.warning("worker %s is disconnected: %s", self._runtime.runtime_id, KEY_INVALID)
            try:
                await self._services.workers.deregister(self._owner, self._runtime.runtime_id, KEY_INVALID)
            except CallRejected:
                return  # it is gone already

    def close(self) -> None:
        if self._runtime is not None and self.peer is not None:
            self._connections.remove(self._runtime.runtime_id, self.peer)

    async def _serve_call(self, call: Awaitable[Any]) -> Any:
        # A call is completed even if the connection is lost, so that memory and database stay consistent.
        task = asyncio.ensure_future(call)
        task.add_done_callback(_retrieve_exception)
        try:
            return await asyncio.shield(task)
        except CallRejected as refusal:
            raise to_wire_error(refusal) from refusal

    async def _serve_stream(self, parts: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
        try:
            async with aclosing(parts):
                async for part in parts:
                    yield part
        except CallRejected as refusal:
            raise to_wire_error(refusal) from refusal

    async def _hello(self, data: Any) -> dict[str, Any]:
        hello = parse(messages.WorkerHello, data)
        assert self.peer is not None
        if hello.protocol != WORKER_PROTOCOL_VERSION:
            raise WireError("not_supported", _mismatch(hello.protocol))
        if self._runtime is not None:
            raise WireError("conflict", "hello was called on this connection before")
        labels = self._allowed_labels(hello)
        connection = WorkerConnection(self._key.key_id, hello.instance, self.peer)
        self._connections.check(hello.name, connection)
        definition = hello.model_dump(mode="json", exclude={"protocol", "version", "name", "held"}) | {
            "labels": labels,
            "runners": self._allowed_runners(hello),
            "versions": {"parlour": hello.version, **hello.versions},
        }
        try:
            runtime = await self._services.workers.register(self._owner, hello.name, definition)
            held = {each.run_id: each.lease for each in hello.held}
            lost = await self._services.executions.reconcile(runtime, held, CLAIM_LOST)
        except CallRejected as refusal:
            raise to_wire_error(refusal) from refusal
        self._runtime = runtime
        self._connections.add(hello.name, connection)
        return messages.WorkerWelcome(
            protocol=WORKER_PROTOCOL_VERSION, version=VERSION, labels=labels, lost=lost
        ).model_dump()

    def _allowed_labels(self, hello: messages.WorkerHello) -> list[str]:
        if hello.labels is None:
            return sorted(self._key.labels)
        if missing := sorted(set(hello.labels) - set(self._key.labels)):
            message = f"labels: the key '{self._key.name}' does not allow {', '.join(missing)}"
            raise WireError("denied", f"{message}; make a key with 'parlour keys create --scope worker --label ...'")
        return sorted(set(hello.labels))

    def _allowed_runners(self, hello: messages.WorkerHello) -> list[str]:
        allowed = set(hello.runners) & set(self._key.runners) if self._key.runners else set(hello.runners)
        if not allowed:
            what = "that its key allows" if self._key.runners else "to offer"
            raise WireError("denied", f"runners: the worker has none {what}; install the plugin of the runner there")
        return sorted(allowed)

    async def _claim(self, runtime: RemoteWorker, data: Any) -> dict[str, Any]:
        call = parse(messages.ClaimCall, data)
        worker_filter = WorkerFilter(runtime.labels, runtime.runners)
        claimed = await self._services.queue.claim(runtime, worker_filter, call.wait_seconds)
        if claimed is None:
            return messages.ClaimAnswer().model_dump()
        if self.peer is None or self.peer.closed:  # the answer would not arrive
            run_id, token = claimed.run.run_id, claimed.lease.token
            await self._services.executions.release(runtime, run_id, token, CLAIM_LOST)
            return messages.ClaimAnswer().model_dump()
        self._services.metrics.observe(WAIT_METRIC, claimed.waited_seconds)
        run = messages.ClaimedRunMessage(
            run_id=claimed.run.run_id,
            plugin_id=claimed.run.descriptor.plugin_id,
            runner_id=claimed.run.descriptor.runner_id,
            lease=claimed.lease.token,
            request=claimed.request,
        )
        return messages.ClaimAnswer(run=run).model_dump()

    async def _watch(self, runtime: RemoteWorker, data: Any) -> AsyncGenerator[Any, None]:
        worker_filter = WorkerFilter(runtime.labels, runtime.runners)
        async with aclosing(self._services.queue.watch(runtime, worker_filter)) as notices:
            async for notice in notices:
                yield messages.NoticeMessage(queued=notice.queued, ended=list(notice.ended)).model_dump()

    async def _beat(self, runtime: RemoteWorker, data: Any) -> dict[str, Any]:
        call = parse(messages.Beat, data)
        await self._services.workers.heartbeat(self._owner, runtime.runtime_id)
        renew = self._services.executions.renew
        lost = [each.run_id for each in call.held if not await renew(runtime, each.run_id, each.lease)]
        return messages.BeatAnswer(lost=lost).model_dump()

    async def _start(self, runtime: RemoteWorker, data: Any) -> dict[str, Any]:
        call = parse(messages.RunLease, data)
        over = await self._services.executions.start(runtime, call.run_id, call.lease)
        return messages.ResultsAnswer(over=over).model_dump()

    async def _results(self, runtime: RemoteWorker, data: Any) -> dict[str, Any]:
        call = parse(messages.ResultsCall, data)
        if not all(isinstance(each, dict) and type(each.get("sequence")) is int for each in call.results):
            raise WireError("invalid_argument", "results: each is an object with its sequence")
        over = await self._services.executions.append(runtime, call.run_id, call.lease, call.results)
        return messages.ResultsAnswer(over=over).model_dump()

    async def _finish(self, runtime: RemoteWorker, data: Any) -> dict[str, Any]:
        call = parse(messages.FinishCall, data)
        failed = RunTermination("failed", call.code or "runner.error", call.error)
        termination = RunTermination("completed", "stop") if call.completed else failed
        await self._services.executions.finish(runtime, call.run_id, call.lease, termination)
        return {}

    async def _release(self, runtime: RemoteWorker, data: Any) -> dict[str, Any]:
        call = parse(messages.RunLease, data)
        await self._services.executions.release(runtime, call.run_id, call.lease, WORKER_STOPPED)
        return {}

    async def _leave(self, runtime: RemoteWorker, data: Any) -> dict[str, Any]:
        await self._services.workers.deregister(self._owner, runtime.runtime_id)
        return {}

    async def _call(self, runtime: RemoteWorker, data: Any) -> Any:
        call = parse(messages.ActionCall, data)
        plugin_id = self._caller(runtime, call)
        return await self._services.gate.call(plugin_id, call.name, call.data)

    async def _stream(self, runtime: RemoteWorker, data: Any) -> AsyncGenerator[Any, None]:
        call = parse(messages.ActionCall, data)
        plugin_id = self._caller(runtime, call)
        async with aclosing(self._services.gate.stream(plugin_id, call.name, call.data)) as parts:
            async for part in parts:
                yield part

    def _caller(self, runtime: RemoteWorker, call: messages.ActionCall) -> Any:
        """Returns the plugin in whose name a call is made: that of the run, which the worker holds."""
        fields = call.data if isinstance(call.data, dict) else {}
        run_id, lease = fields.get("run_id"), fields.get("lease")
        if not isinstance(run_id, str) or not isinstance(lease, str):
            raise CallRejected("denied", "a worker calls the Host for the runs that it holds only")
        return self._services.executions.find(runtime, RunId(run_id), lease).holder


def _mismatch(protocol: int) -> str:
    older_side = "the worker" if protocol < WORKER_PROTOCOL_VERSION else "the Host"
    versions = f"the worker speaks worker protocol {protocol} and the Host {WORKER_PROTOCOL_VERSION}"
    return f"{versions}; update Parlour where {older_side} runs"


def _retrieve_exception(task: "asyncio.Future[Any]") -> None:
    if not task.cancelled():
        task.exception()

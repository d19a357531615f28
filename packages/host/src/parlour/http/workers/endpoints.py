"""Endpoints of workers on other machines: their connection, and what operators see and revoke."""

from operator import attrgetter
from typing import Annotated, Literal, cast

from fastapi import APIRouter, Path, Response, WebSocket
from typing_extensions import TypedDict

from parlour.core.model.ids import AgentId, ApiKeyId, ConversationId, PluginId, RunId, RunnerId, RuntimeId
from parlour.core.pagination import Cursors
from parlour.core.remote.leases import LeasedRun
from parlour.core.remote.queue import RemoteRunQueue
from parlour.core.remote.workers import RemoteWorkers
from parlour.core.store.remote_workers import RemoteWorker
from parlour_sdk.protocol.runtimes import ProviderLogin

from ..api_router import ApiRouter
from ..auth import Operator, Viewer
from ..errors import not_found
from ..pagination import Cursor, LongLimit, paginate
from ..responses import PageResponse, TimestampMs
from .sockets import WorkerSockets

RuntimePath = Annotated[RuntimeId, Path(max_length=200)]
REVOKED = "an operator revoked this worker"


class RuntimeResponse(TypedDict):
    runtime_id: RuntimeId
    plugin_id: PluginId | None
    """Plugin whose worker it is; null for a worker process."""
    key_id: ApiKeyId | None
    """API key of a worker process."""
    status: Literal["active", "gone"]
    labels: list[str]
    runners: list[str]
    """None named means any."""
    slots: int
    used_slots: int
    """Runs that it holds now."""
    versions: dict[str, str]
    providers: list[ProviderLogin]
    workspaces: list[str]
    registered_at: TimestampMs
    last_seen_at: TimestampMs
    expires_at: TimestampMs
    """When it counts as gone unless it is heard of again."""


class QueuedRunResponse(TypedDict):
    run_id: RunId
    status: Literal["queued", "claimed", "running"]
    agent_id: AgentId | None
    runner_id: RunnerId
    conversation_id: ConversationId
    labels: list[str]
    """Labels that a worker needs to execute it."""
    runtime_id: RuntimeId | None
    """Worker that holds it."""
    lease_until: TimestampMs | None
    candidates: int
    """Active workers that could execute it."""


def router(workers: RemoteWorkers, queue: RemoteRunQueue, sockets: WorkerSockets, cursors: Cursors) -> APIRouter:
    routes = ApiRouter(tags=["runtimes"])

    @routes.websocket("/runtimes/connect")
    async def connect(socket: WebSocket) -> None:
        await sockets.serve(socket)

    @routes.get("/runtimes")
    async def list_runtimes(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> PageResponse[RuntimeResponse]:
        """Those that are there and those that are gone."""
        page, next_cursor = paginate(cursors, "runtimes", await workers.all(), attrgetter("runtime_id"), limit, cursor)
        items = [_to_response(worker, len(queue.held_by(worker.runtime_id))) for worker in page]
        return {"items": items, "next_cursor": next_cursor}

    @routes.get("/runtimes/queue")
    async def list_queue(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> PageResponse[QueuedRunResponse]:
        """Runs that wait for a worker or are held by one, oldest first."""
        page, next_cursor = paginate(cursors, "runtime-queue", queue.all(), attrgetter("run_id"), limit, cursor)
        active = [worker for worker in await workers.all() if worker.status == "active"]
        return {"items": [_to_queued_run(run, active) for run in page], "next_cursor": next_cursor}

    @routes.post("/runtimes/{runtime_id}/revoke", status_code=204)
    async def revoke_runtime(runtime_id: RuntimePath, principal: Operator) -> Response:
        """Ends its registration. Its runs wait for another worker, or end as interrupted if they have started.

        A worker process whose key is still valid connects again; revoke the key to keep it away.
        """
        if await workers.revoke(runtime_id, principal.owner) is None:
            raise not_found(f"an active worker '{runtime_id}'", "GET /api/v1/runtimes lists them")
        sockets.disconnect(runtime_id, REVOKED)
        return Response(status_code=204)

    return routes


def _to_response(worker: RemoteWorker, used_slots: int) -> RuntimeResponse:
    declared = worker.definition
    return {
        "runtime_id": worker.runtime_id,
        "plugin_id": worker.plugin_id or None,
        "key_id": worker.key_id or None,
        "status": cast("Literal['active', 'gone']", worker.status),
        "labels": declared["labels"],
        "runners": declared["runners"],
        "slots": declared["slots"],
        "used_slots": used_slots,
        "versions": declared["versions"],
        "providers": declared["providers"],
        "workspaces": declared["workspaces"],
        "registered_at": worker.registered_at,
        "last_seen_at": worker.last_seen_at,
        "expires_at": worker.expires_at,
    }


def _to_queued_run(run: LeasedRun, active: list[RemoteWorker]) -> QueuedRunResponse:
    lease, session = run.lease, run.active_run.session
    return {
        "run_id": run.run_id,
        "status": cast("Literal['queued', 'claimed', 'running']", run.status),
        "agent_id": session.binding.agent.agent_id or None,
        "runner_id": run.descriptor.runner_id,
        "conversation_id": session.event.conversation_id,
        "labels": sorted(run.labels),
        "runtime_id": lease.runtime.runtime_id if lease is not None else None,
        "lease_until": lease.expires_at if lease is not None else None,
        "candidates": sum(_can_execute(worker, run) for worker in active),
    }


def _can_execute(worker: RemoteWorker, run: LeasedRun) -> bool:
    accepts_runner = not worker.runners or run.descriptor.runner_id in worker.runners
    return accepts_runner and run.labels <= worker.labels

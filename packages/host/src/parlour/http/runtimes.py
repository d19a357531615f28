"""Endpoint that lists the remote runtimes."""

from operator import attrgetter
from typing import Literal, cast

from fastapi import APIRouter
from typing_extensions import TypedDict

from parlour.core.model.ids import PluginId, RuntimeId
from parlour.core.pagination import Cursors
from parlour.core.remote.workers import RemoteWorkers
from parlour.core.store.remote_workers import RemoteWorker
from parlour_sdk.protocol.runtimes import ProviderLogin

from .api_router import ApiRouter
from .auth import Viewer
from .pagination import Cursor, LongLimit, paginate
from .responses import PageResponse, TimestampMs


class RuntimeResponse(TypedDict):
    runtime_id: RuntimeId
    plugin_id: PluginId
    status: Literal["active", "gone"]
    labels: list[str]
    runners: list[str]
    """None named means any."""
    slots: int
    versions: dict[str, str]
    providers: list[ProviderLogin]
    workspaces: list[str]
    registered_at: TimestampMs
    last_seen_at: TimestampMs
    expires_at: TimestampMs
    """When it counts as gone unless it is heard of again."""


def router(workers: RemoteWorkers, cursors: Cursors) -> APIRouter:
    routes = ApiRouter(tags=["runtimes"])

    @routes.get("/runtimes")
    async def list_runtimes(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> PageResponse[RuntimeResponse]:
        """Those that are there and those that are gone."""
        page, next_cursor = paginate(cursors, "runtimes", await workers.all(), attrgetter("runtime_id"), limit, cursor)
        return {"items": [_to_response(worker) for worker in page], "next_cursor": next_cursor}

    return routes


def _to_response(worker: RemoteWorker) -> RuntimeResponse:
    declared = worker.definition
    return {
        "runtime_id": worker.runtime_id,
        "status": cast("Literal['active', 'gone']", worker.status),
        "labels": declared["labels"],
        "runners": declared["runners"],
        "slots": declared["slots"],
        "versions": declared["versions"],
        "providers": declared["providers"],
        "workspaces": declared["workspaces"],
        "registered_at": worker.registered_at,
        "last_seen_at": worker.last_seen_at,
        "expires_at": worker.expires_at,
        "plugin_id": worker.plugin_id,
    }

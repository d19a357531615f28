"""Endpoints to see the Hosts of a cluster, to drain one, and to move parts."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from parlour.core.access import audit
from parlour.core.cluster import owner_rows, roster
from parlour.core.cluster.owner_rows import PartOwner
from parlour.core.cluster.roster import HostRecord
from parlour.core.journal import GuardFailed, Insert, Journal, Unit
from parlour.core.model.ids import HostId, PartId
from parlour.core.model.ports import Clock

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..errors import Problem, not_found
from ..principals import Principal
from ..responses import PageResponse
from .responses import HostHealth, HostResponse, PartResponse

HostPath = Annotated[HostId, Path(max_length=64)]
PartPath = Annotated[PartId, Path(max_length=128)]
CLOCK_TOLERANCE_MILLISECONDS = 2000
"""How far the clock of this Host may be ahead of the database's before a renewed lease looks late."""


class PartMove(BaseModel):
    host_id: HostId = Field(max_length=64)
    """The Host that shall own the part."""


def router(journal: Journal, own_id: HostId, clock: Clock) -> APIRouter:
    """`own_id` is empty if this Host has its database to itself."""
    routes = ApiRouter(tags=["cluster"])

    def entry(principal: Principal, action: str, name: str, before: str, after: str) -> Insert:
        return audit.change_entry(principal.owner, action, name, {"host": before}, {"host": after}, clock.now())

    async def live_host(host_id: HostId) -> HostRecord:
        hosts = (await roster.read_state(journal)).hosts
        found = next((each for each in hosts if each.host_id == host_id and each.is_live), None)
        if found is None:
            raise not_found(f"living Host '{host_id}'", "GET /api/v1/hosts lists them")
        return found

    async def host_responses() -> list[HostResponse]:
        hosts, now = (await roster.read_state(journal)).hosts, clock.now()
        is_alone = sum(each.is_live for each in hosts) < 2
        return [_to_host(each, own_id, _health(each, is_alone, now)) for each in hosts]

    @routes.get("/hosts")
    async def list_hosts(principal: Viewer) -> PageResponse[HostResponse]:
        """The Hosts of the cluster and what each of them owns. Empty for a Host that has its database to itself."""
        return {"items": await host_responses() if own_id else [], "next_cursor": None}

    @routes.get("/parts")
    async def list_parts(principal: Viewer) -> PageResponse[PartResponse]:
        """The parts of the work and their owners. Empty for a Host that has its database to itself."""
        parts = await owner_rows.all_parts(journal) if own_id else ()
        return {"items": [_to_part(each) for each in parts], "next_cursor": None}

    @routes.post("/hosts/{host_id}/drain", status_code=202)
    async def drain_host(host_id: HostPath, principal: Admin) -> HostResponse:
        """The Host finishes its work, gives all its parts to the others, and takes none until it is resumed."""
        return await change_draining(host_id, principal, True)

    @routes.post("/hosts/{host_id}/resume", status_code=202)
    async def resume_host(host_id: HostPath, principal: Admin) -> HostResponse:
        """The Host takes parts again."""
        return await change_draining(host_id, principal, False)

    async def change_draining(host_id: HostId, principal: Principal, is_draining: bool) -> HostResponse:
        host = await live_host(host_id)
        action = "host.drain" if is_draining else "host.resume"
        changed = entry(principal, action, host_id, _state(host), "draining" if is_draining else "live")
        try:
            await journal.commit(Unit("host.drain", (roster.set_draining(host_id, is_draining), changed)))
        except GuardFailed as error:
            raise not_found(f"living Host '{host_id}'", "GET /api/v1/hosts lists them") from error
        return next(each for each in await host_responses() if each["host_id"] == host_id)

    @routes.post("/parts/{part}/move", status_code=202)
    async def move_part(part: PartPath, move: PartMove, principal: Admin) -> PartResponse:
        """The owner finishes the work of the part and gives it to the named Host, which keeps it for 30 seconds at
        least; then the parts are balanced as before.
        """
        owned = next((each for each in await owner_rows.all_parts(journal) if each.part == part), None)
        if owned is None:
            raise not_found(f"part '{part}'", "GET /api/v1/parts lists them")
        target = await live_host(move.host_id)
        if target.is_draining:
            raise Problem(409, "conflict", f"Host '{target.name}' gives its parts away: resume it first")
        changed = entry(principal, "part.move", part, owned.host_id, target.host_id)
        try:
            await journal.commit(Unit("part.move", (owner_rows.request(owned, target.host_id), changed)))
        except GuardFailed as error:
            raise Problem(409, "conflict", f"'{part}' has just moved; read its owner again") from error
        return {**_to_part(owned), "wanted_by": target.host_id}

    return routes


def _state(host: HostRecord) -> str:
    return "fenced" if not host.is_live else "draining" if host.is_draining else "live"


def _health(host: HostRecord, is_alone: bool, now: int) -> HostHealth:
    if not host.is_live:
        return "ended"
    if host.lease_until + CLOCK_TOLERANCE_MILLISECONDS < now:
        return "late"
    if host.is_draining:
        return "draining" if host.parts else "drained"
    return "healthy" if host.address or is_alone else "unreachable"


def _to_host(host: HostRecord, own_id: HostId, health: HostHealth) -> HostResponse:
    return {
        "host_id": host.host_id,
        "name": host.name,
        "version": host.version,
        "address": host.address or None,
        "state": "fenced" if not host.is_live else "draining" if host.is_draining else "live",
        "health": health,
        "started_at": host.started_at,
        "fenced_at": host.fenced_at or None,
        "lease_until": host.lease_until or None,
        "parts": list(host.parts),
        "answers_this": host.host_id == own_id,
    }


def _to_part(part: PartOwner) -> PartResponse:
    return {
        "part": part.part,
        "host_id": part.host_id or None,
        "epoch": part.epoch,
        "wanted_by": part.wanted or None,
        "moved_at": part.moved_at,
    }

"""Schedules: made, read, changed, deleted."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from parlour.core.access import audit
from parlour.core.journal import Insert
from parlour.core.ports import Clock, Ids
from parlour.core.scheduling.book import Kept, ScheduleBook
from parlour.core.scheduling.schedule import EVENT_TYPE, Schedule, ScheduleRefused, check
from parlour.core.scheduling.scheduler import Scheduler

from ..auth import Admin, Principal, Viewer
from ..errors import invalid, not_found
from ..targets import Targets

ScheduleId = Annotated[str, Path(max_length=64)]


class ScheduleBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    cron: str = Field(default="", max_length=200, examples=["0 9 * * 1-5"])
    interval_seconds: int = Field(default=0, ge=0, le=366 * 24 * 3600)
    timezone: str = Field(default="UTC", max_length=64, examples=["Europe/Berlin"])
    agent_id: str = Field(default="", max_length=64)
    bot_id: str = Field(default="", max_length=64)
    text: str = Field(default="", max_length=20_000)
    data: dict[str, Any] = {}
    missed: Literal["skip", "once"] = "skip"
    enabled: bool = True


def router(book: ScheduleBook, scheduler: Scheduler, targets: Targets, ids: Ids, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["schedules"])

    def existing(schedule_id: str) -> Kept:
        kept = book.get(schedule_id)
        if kept is None:
            raise not_found(f"schedule '{schedule_id}'", "GET /api/v1/schedules lists them")
        return kept

    def checked(schedule_id: str, body: ScheduleBody) -> Schedule:
        schedule = Schedule(schedule_id, **body.model_dump())
        try:
            check(schedule, clock.now())
        except ScheduleRefused as refusal:
            raise invalid(refusal.field, refusal.message) from refusal
        targets.check(schedule.agent_id, schedule.bot_id, EVENT_TYPE)
        return schedule

    def change(principal: Principal, action: str, before: Kept | None, after: Schedule | None) -> Insert:
        told = before.schedule.encoded() if before else None
        schedule_id = after.schedule_id if after else before.schedule.schedule_id if before else ""
        return audit.admin(principal.owner, action, schedule_id, told, after.encoded() if after else None, clock.now())

    @routes.post("/schedules", status_code=201)
    async def create_schedule(body: ScheduleBody, principal: Admin) -> dict[str, Any]:
        schedule = checked(ids.new(), body)
        kept = await book.add(schedule, change(principal, "schedule.create", None, schedule))
        scheduler.changed()
        return _shown(kept)

    @routes.get("/schedules")
    async def list_schedules(principal: Viewer) -> dict[str, Any]:
        return {"items": [_shown(kept) for kept in book.all()], "next_cursor": None}

    @routes.get("/schedules/{schedule_id}")
    async def read_schedule(schedule_id: ScheduleId, principal: Viewer) -> dict[str, Any]:
        return _shown(existing(schedule_id))

    @routes.put("/schedules/{schedule_id}")
    async def replace_schedule(schedule_id: ScheduleId, body: ScheduleBody, principal: Admin) -> dict[str, Any]:
        """It is due next as seen from now."""
        before = existing(schedule_id)
        schedule = checked(schedule_id, body)
        kept = await book.replace(schedule, change(principal, "schedule.replace", before, schedule))
        scheduler.changed()
        return _shown(kept)

    @routes.delete("/schedules/{schedule_id}", status_code=204)
    async def delete_schedule(schedule_id: ScheduleId, principal: Admin) -> Response:
        before = existing(schedule_id)
        await book.remove(schedule_id, change(principal, "schedule.delete", before, None))
        return Response(status_code=204)

    return routes


def _shown(kept: Kept) -> dict[str, Any]:
    due_at = kept.due_at if kept.schedule.enabled else None
    return {**kept.schedule.encoded(), "due_at": due_at, "fired_at": kept.fired_at or None}

"""Endpoints to create, read, change and delete schedules."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from parlour.core.config.schedules import ScheduleRepository, ScheduleState
from parlour.core.ingest.scheduler import Scheduler
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.schedule import EVENT_TYPE, InvalidSchedule, Schedule, validate_schedule
from parlour.core.pagination import Cursors

from ..auth import Admin, Viewer
from ..crud import ConfigResource
from ..errors import invalid_field
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..responses import Json, PageResponse, ResponseSchema
from ..target_validation import TargetValidator
from . import responses

ScheduleId = Annotated[str, Path(max_length=64)]


class ScheduleBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "Morning",
                    "cron": "0 9 * * 1-5",
                    "timezone": "Europe/Berlin",
                    "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41",
                }
            ]
        },
    )

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


def router(
    book: ScheduleRepository, scheduler: Scheduler, targets: TargetValidator, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["schedules"])
    shelf = ConfigResource("schedule", "/schedules", book.get, _schedule_id, _audit_view, cursors, clock, _audit_view)

    def checked(schedule_id: str, body: ScheduleBody) -> Schedule:
        schedule = Schedule(schedule_id, **body.model_dump())
        try:
            validate_schedule(schedule, clock.now())
        except InvalidSchedule as refusal:
            raise invalid_field(refusal.field, refusal.message) from refusal
        targets.check(schedule.agent_id, schedule.bot_id, EVENT_TYPE)
        return schedule

    @routes.post("/schedules", status_code=201)
    async def create_schedule(
        body: ScheduleBody, principal: Admin, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.ScheduleResponse)]:
        schedule = checked(ids.new(), body)
        kept = await book.add(schedule, shelf.audit_entry(principal, None, ScheduleState(schedule, 0, 0)))
        scheduler.on_schedules_changed()
        return _to_response(shelf.with_etag(kept, response))

    @routes.get("/schedules")
    async def list_schedules(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[responses.ScheduleResponse])]:
        return shelf.list_page(book.all(), _to_response, limit, cursor)

    @routes.get("/schedules/{schedule_id}")
    async def read_schedule(
        schedule_id: ScheduleId, principal: Viewer, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.ScheduleResponse)]:
        return _to_response(shelf.with_etag(shelf.get_or_404(schedule_id), response))

    @routes.put("/schedules/{schedule_id}")
    async def replace_schedule(
        schedule_id: ScheduleId, body: ScheduleBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, ResponseSchema(responses.ScheduleResponse)]:
        """It is due next as seen from now."""
        async with shelf.edit(schedule_id, if_match) as before:
            schedule = checked(schedule_id, body)
            kept = await book.replace(schedule, shelf.audit_entry(principal, before, ScheduleState(schedule, 0, 0)))
        scheduler.on_schedules_changed()
        return _to_response(shelf.with_etag(kept, response))

    @routes.delete("/schedules/{schedule_id}", status_code=204)
    async def delete_schedule(schedule_id: ScheduleId, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.edit(schedule_id, if_match) as before:
            await book.remove(schedule_id, shelf.audit_entry(principal, before, None))
        return Response(status_code=204)

    return routes


def _schedule_id(kept: ScheduleState) -> str:
    return kept.schedule.schedule_id


def _audit_view(kept: ScheduleState) -> dict[str, Any]:
    return kept.schedule.to_dict()


def _to_response(kept: ScheduleState) -> dict[str, Any]:
    due_at = kept.due_at if kept.schedule.enabled else None
    return {**kept.schedule.to_dict(), "due_at": due_at, "fired_at": kept.fired_at or None}

"""Endpoints to create, read, change and delete schedules."""

from fastapi import APIRouter

from parlour.core.config.schedules import ScheduleRepository, ScheduleState
from parlour.core.ingest.scheduler import Scheduler
from parlour.core.journal import Insert
from parlour.core.model.ids import ScheduleId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.schedule import EVENT_TYPE, InvalidSchedule, Schedule, validate_schedule
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..crud import ConfigResource, CrudOperations, CrudSchemas, add_crud_routes, without_wait
from ..errors import invalid_field
from ..principals import Principal
from ..responses import Json
from ..target_validation import TargetValidator
from .schemas import ScheduleBody, ScheduleResponse


def router(
    repository: ScheduleRepository,
    scheduler: Scheduler,
    targets: TargetValidator,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["schedules"])

    def build(
        schedule_id: ScheduleId, body: ScheduleBody, before: ScheduleState | None, principal: Principal
    ) -> ScheduleState:
        schedule = Schedule(schedule_id, **body.model_dump())
        try:
            validate_schedule(schedule, clock.now())
        except InvalidSchedule as refusal:
            raise invalid_field(refusal.field, refusal.message) from refusal
        targets.check(schedule.agent_id, schedule.bot_id, EVENT_TYPE)
        return ScheduleState(schedule, 0, 0)

    async def add(state: ScheduleState, entry: Insert) -> ScheduleState:
        return await repository.add(state.schedule, entry)

    async def replace(state: ScheduleState, entry: Insert) -> ScheduleState:
        return await repository.replace(state.schedule, entry)

    async def wake_scheduler(principal: Principal, before: ScheduleState | None, after: ScheduleState | None) -> None:
        if after is not None:
            scheduler.on_schedules_changed()

    add_crud_routes(
        routes,
        ConfigResource(
            "schedule", "/schedules", repository.get, _schedule_id, _audit_view, cursors, clock, _audit_view
        ),
        CrudSchemas(
            "schedule",
            "schedule_id",
            ScheduleBody,
            ScheduleResponse,
            max_id_length=64,
            notes={"replace": "It is due next as seen from now."},
        ),
        CrudOperations(
            repository.all, build, add, replace, repository.remove, without_wait(_to_response), wake_scheduler
        ),
        lambda: ScheduleId(ids.new()),
    )
    return routes


def _schedule_id(state: ScheduleState) -> ScheduleId:
    return state.schedule.schedule_id


def _audit_view(state: ScheduleState) -> Json:
    return state.schedule.to_dict()


def _to_response(state: ScheduleState) -> ScheduleResponse:
    schedule = state.schedule
    return {
        "schedule_id": schedule.schedule_id,
        "name": schedule.name,
        "cron": schedule.cron,
        "interval_seconds": schedule.interval_seconds,
        "timezone": schedule.timezone,
        "agent_id": schedule.agent_id,
        "bot_id": schedule.bot_id,
        "text": schedule.text,
        "data": dict(schedule.data),
        "missed": schedule.missed,
        "enabled": schedule.enabled,
        "due_at": state.due_at if schedule.enabled else None,
        "fired_at": state.fired_at or None,
    }

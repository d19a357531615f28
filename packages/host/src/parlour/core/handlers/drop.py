"""The handler `drop`: completes events without an answer."""

from typing import ClassVar

from parlour.core.config.routes import Route
from parlour.core.message_policy.filtered import filtered_at_wake
from parlour.core.model.event import EventEnvelope
from parlour.core.routing.decisions import Drop, RouteDecision
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.session import QueuedEvent


class DropHandler:
    """Drops events, with the route as the reason."""

    type: ClassVar[str] = Drop.handler_type
    answers_by_agent: ClassVar[bool] = False

    def __init__(self, completer: EventCompleter) -> None:
        self._completer = completer

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        return Drop(f"{route.label} drops it{skipped_routes}")

    async def handle(self, entry: QueuedEvent, decision: Drop) -> LaneResult:
        filtered = filtered_at_wake(decision.silence) if decision.silence is not None else None
        await self._completer.complete(entry, "dropped", decision.reason, filtered=filtered)
        return LaneResult()

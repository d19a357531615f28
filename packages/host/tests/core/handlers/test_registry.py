"""The registry of handlers: which files a handler type touches, and what a new one needs."""

from pathlib import Path
from typing import ClassVar, get_args

import pytest

import parlour
from parlour.core.config.routes import Route
from parlour.core.handlers.dispatcher import EventDispatcher
from parlour.core.handlers.handler import by_type
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.routing.agent_binder import AgentBinder
from parlour.core.routing.decisions import RouteDecision, ToHandler
from parlour.core.routing.default_resolver import DefaultResolver
from parlour.core.routing.router import Router
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.session import QueuedEvent
from parlour.core.runs.transcript_corrections import TranscriptCorrections
from parlour.http.bots.handler_types import HANDLER_FORMS, HandlerType

from ..support import EPOCH, LoopClock, World, message

FILES_OF_A_TYPE = {
    "core/handlers/webhook.py",  # the handler itself
    "app/core_handlers.py",  # its line in the registry
    "http/bots/handler_types.py",  # its form: schema, checks, response, outcome of a dry run
}
"""Files of the Host that name one handler type. The page adds its fields and its words in two languages."""


class ToyHandler:
    """A handler type that exists only here."""

    type: ClassVar[str] = "toy"
    answers_by_agent: ClassVar[bool] = False

    def __init__(self) -> None:
        self.handled: list[tuple[str, dict[str, object]]] = []

    def resolve(self, event: EventEnvelope, route: Route, skipped: str) -> RouteDecision:
        return ToHandler(route, f"{route.label}{skipped}")

    async def handle(self, entry: QueuedEvent, decision: ToHandler) -> LaneResult:
        self.handled.append((entry.event.envelope.text, decision.route.handler_config))
        return LaneResult()


async def test_new_handler_type_needs_a_handler_and_a_registry_line() -> None:
    world, toy = await World.open(), ToyHandler()
    core, handlers = world.core, {**world.core.handlers, **by_type([toy])}
    defaults = DefaultResolver(core.agents, core.default_agents, core.subscriptions.has_handlers)
    router = Router(core.routes, handlers, AgentBinder(core.agents), defaults, LoopClock())
    await core.routes.replace("bot", [Route("message.*", "toy", {"colour": "red"})])
    event = RecordedEvent(1, "conversation", EPOCH, message("hello", surface="platform"))

    corrections = TranscriptCorrections(world.journal)
    dispatcher = EventDispatcher(router, handlers, None, None, corrections)  # type: ignore[arg-type]
    await dispatcher.handle(QueuedEvent(event))

    assert toy.handled == [("hello", {"colour": "red"})]


async def test_every_handler_has_a_form_and_every_form_a_handler() -> None:
    world = await World.open()

    assert set(world.core.handlers) == set(HANDLER_FORMS) == set(get_args(HandlerType))


def test_two_handlers_of_one_type_are_refused() -> None:
    with pytest.raises(ValueError, match="toy"):
        by_type([ToyHandler(), ToyHandler()])


def test_a_handler_type_is_named_in_few_files() -> None:
    root = Path(parlour.__file__).parent
    python = [path for part in ("app", "core", "http") for path in (root / part).rglob("*.py")]
    naming = {
        path.relative_to(root).as_posix()
        for path in python
        if any(name in path.read_text(encoding="utf-8") for name in ("WebhookHandler", "WebhookForm"))
    }

    assert naming - {"http/bots/webhook_schemas.py"} == FILES_OF_A_TYPE

"""Simulates the receivers of jobs: a web server that is called by webhooks, and a plugin that observes messages.

Both fail, are slow, and take deliveries whose answer is lost.
"""

import asyncio
import random
from contextlib import suppress
from dataclasses import field
from functools import partial
from typing import Any

from parlour.app.core import Core
from parlour.core.config.routes import Route
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.jobs.attempts import RENEW_SECONDS
from parlour.core.jobs.job import OPEN_STATES
from parlour.core.journal import Select, one_of, where
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import BotId, EventId, PluginId
from parlour.core.model.ports import PluginDisconnected, PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import JOBS
from parlour.core.webhooks.client import Unreachable, WebhookHttpRequest, WebhookHttpResponse
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.values import dataclass

from .world import World, patiently

HOOK_BOT = BotId("hooked")
OBSERVER = PluginId("simulated/observer")
OBSERVER_PERMISSIONS = PluginPermissions(events=["message.received"])
OBSERVER_LISTENER = {
    "kind": "EventListener",
    "name": "observer",
    "spec": {"handlers": [{"name": "observe", "event": "message.received", "observe": True}]},
}
HOOK_ROUTE = Route(
    "*",
    "webhook",
    {
        "url": "https://hooks.example/in",
        "method": "POST",
        "sealed_secret": "",
        "sealed_headers": "",
        "header_names": [],
        "timeout": 30,
        "retry_count": 3,
        "retry_interval": 1,
        "response_actions": False,
    },
)
SLOW_SECONDS = RENEW_SECONDS + 5
"""Seconds of a slow call, so that the lease of its job is renewed."""


@dataclass(slots=True)
class Attempt:
    """An attempt that reached its receiver."""

    event_id: EventId
    delivery_id: str
    """The id by which the receiver recognizes a repetition."""
    process: int
    """Number of the Host process that made it."""
    taken: bool = False
    confirmed: bool = False
    """True if the Host was answered that it was taken."""


@dataclass(slots=True)
class Deliveries:
    """The events for the webhook, and everything that the receivers were given, by all Host processes."""

    is_active: bool = False
    """True if there are receivers in this schedule."""
    hooked: dict[EventId, bool] = field(default_factory=dict)
    """Events for the webhook, and whether the Host has accepted them."""
    cancels: int = 0
    calls: list[Attempt] = field(default_factory=list)
    observed: list[Attempt] = field(default_factory=list)


def plan_deliveries(seed: int) -> Deliveries:
    """Selects the deliveries of a schedule. They have a random generator of their own, so that the schedules without
    receivers stay as they are.
    """
    dice = random.Random(f"deliveries {seed}")
    if dice.random() >= 0.25:
        return Deliveries()
    hooked = {EventId(f"hooked{number}"): False for number in range(dice.randrange(1, 4))}
    return Deliveries(True, hooked, cancels=dice.choice((0, 0, 1)))


async def send_hooked_event(core: Core, deliveries: Deliveries, event_id: EventId, world: World) -> None:
    """Sends an event for the webhook until it is accepted."""
    if not deliveries.hooked[event_id]:
        await asyncio.sleep(world.dice.random() * 0.4)
        await patiently(lambda: core.gateway.ingest(_hooked_event(event_id)))
        deliveries.hooked[event_id] = True


async def cancel_job(core: Core, deliveries: Deliveries, world: World) -> None:
    """Cancels a call of a webhook, as an operator does."""
    await asyncio.sleep(world.dice.random() * 2)
    for row in world.database.read(Select(JOBS, where(kind="webhook", state=one_of(*OPEN_STATES)), limit=1)):
        deliveries.cancels -= 1
        world.hasten()
        with suppress(CallRejected):
            await patiently(partial(core.jobs.cancel, row["job_id"]))


def _hooked_event(event_id: EventId) -> EventEnvelope:
    return EventEnvelope(
        event_id=event_id,
        event_type="message.received",
        source="sim",
        chat="hooked",
        context=EventContext(event_id),
        surface="sim",
        bot_id=HOOK_BOT,
        actor=Participant("user", "ann"),
        input={"text": f"text of {event_id}"},
    )


class SimulatedReceiver:
    """Receives the calls of webhooks."""

    def __init__(self, world: World, deliveries: Deliveries) -> None:
        self._world = world
        self._deliveries = deliveries

    async def send(self, request: WebhookHttpRequest) -> WebhookHttpResponse:
        world, event = self._world, loads(request.body.decode())["event"]
        await world.point("hook:before")
        attempt = Attempt(event["event_id"], request.headers["webhook-id"], world.crashes)
        self._deliveries.calls.append(attempt)
        world.hasten()
        roll = world.dice.random()
        await (asyncio.sleep(SLOW_SECONDS) if roll < 0.1 else world.pause())
        roll = world.dice.random()
        if roll < 0.2:
            return WebhookHttpResponse(503, b"", retry_after=world.dice.choice((None, 3)))
        if roll < 0.25:
            return WebhookHttpResponse(400, b"")
        attempt.taken = True
        await world.point("hook:after")
        if roll > 0.9:
            raise Unreachable("the connection was cut")
        attempt.confirmed = True
        return WebhookHttpResponse(200, b"")


class SimulatedObserver:
    """Receives the calls of a plugin that observes messages; the plugin starts later than the Host."""

    def __init__(self, world: World, deliveries: Deliveries) -> None:
        self._world = world
        self._deliveries = deliveries
        self.components = ComponentRegistry()
        if deliveries.is_active:
            self.components.restore_listeners(OBSERVER, "1", [OBSERVER_LISTENER])

    async def start(self) -> None:
        await asyncio.sleep(self._world.dice.choice((0, 0, 0.2, 5)))
        self.components.replace_plugin(OBSERVER, "1", [OBSERVER_LISTENER])

    async def observe(self, data: dict[str, Any]) -> dict[str, Any]:
        world = self._world
        await world.point("listener:before")
        roll = world.dice.random()
        if roll < 0.1:
            raise PluginUnavailable("the observer is not running")
        attempt = Attempt(EventId(data["event"]["event_id"]), OBSERVER, world.crashes)
        self._deliveries.observed.append(attempt)
        await world.pause()
        if roll < 0.2:
            raise PluginDisconnected("crashed")
        attempt.taken = True
        await world.point("listener:after")
        if roll > 0.95:
            raise PluginDisconnected("crashed afterwards")
        attempt.confirmed = True
        return {"handled": False}

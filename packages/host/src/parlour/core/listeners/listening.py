"""Hands an event to plugins' listeners, one plugin after the other. What is recorded of it is others' business."""

import logging
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from pydantic import ValidationError

from parlour.core.events.envelope import RecordedEvent
from parlour.core.platforms.book import BotBook
from parlour.core.ports import PluginCaller, PluginLost, PluginRefused, PluginUnavailable
from parlour_sdk.protocol.components import EventOutcome
from parlour_sdk.values import dataclass

from . import telling
from .audience import Audience

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Heard:
    """What the listeners made of an event."""

    told: list[str] = field(default_factory=list)
    """The plugins that have heard it."""
    handled_by: list[str] = field(default_factory=list)
    stopped_by: str = ""
    missed: list[str] = field(default_factory=list)
    """Those that could not be asked, or died over it: they are told later."""
    failures: list[str] = field(default_factory=list)
    """Sentences."""


class Listening:
    def __init__(self, audience: Audience, plugins: PluginCaller, bots: BotBook, seconds: float) -> None:
        self._audience = audience
        self._plugins = plugins
        self._bots = bots
        self._seconds = seconds

    async def hand(self, event: RecordedEvent, plugins: Sequence[str] = ()) -> Heard:
        """To all who want it among these plugins, by priority. After one stopped it, the rest may only look on."""
        event_type = event.envelope.event_type
        heard, variables = Heard(), dict[str, Any]()
        observers = set(self._audience.observing(event_type))
        for plugin_id in self._audience.listening(event_type, plugins):
            observing = bool(heard.stopped_by)
            if observing and plugin_id not in observers:
                continue
            try:
                outcome = await self.tell(event, plugin_id, observing, variables)
            except (PluginUnavailable, PluginLost) as failure:
                heard.missed.append(plugin_id)
                heard.failures.append(f"{plugin_id} could not be told: {failure}")
                continue
            except PluginRefused as refused:
                heard.told.append(plugin_id)
                heard.failures.append(f"{plugin_id} failed: {refused}")
                continue
            heard.told.append(plugin_id)
            _note(heard, plugin_id, outcome)
            variables = _changed(variables, outcome.variables)
        return heard

    async def tell(
        self, event: RecordedEvent, plugin_id: str, observing: bool, variables: dict[str, Any]
    ) -> EventOutcome:
        """Raises PluginUnavailable, PluginLost and PluginRefused."""
        request = {
            "event": telling.event(event),
            "bot": telling.bot(self._bots, event.envelope.bot_id),
            "conversation_id": event.conversation_id,
            "variables": variables,
            "observing": observing,
        }
        answer = await self._plugins.call(plugin_id, "emit_event", request, self._seconds)
        try:
            return EventOutcome.model_validate(answer)
        except ValidationError as error:
            raise PluginRefused("invalid_argument", "its answer to emit_event can't be read") from error


def _note(heard: Heard, plugin_id: str, outcome: EventOutcome) -> None:
    if outcome.handled:
        heard.handled_by.append(plugin_id)
    if outcome.stop_propagation:
        heard.stopped_by = plugin_id
    heard.failures += [f"{plugin_id}: its handler {name} failed" for name in outcome.failed]


def _changed(variables: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """What was removed is told as null."""
    return {name: value for name, value in {**variables, **changes}.items() if value is not None}

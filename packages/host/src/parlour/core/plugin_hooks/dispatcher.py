"""Hands an event to plugins' handlers, one after the other. What is recorded of it is others' business.

Each handler is called by itself: so those of several plugins take turns by priority, and one that hangs uses up its own
time only. A plugin that does not name its handlers is called once for all of them.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from pydantic import ValidationError

from parlour.core.config.bots import BotBook
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ports import PluginCaller, PluginLost, PluginRefused, PluginUnavailable
from parlour.core.platforms.names import NameDirectory
from parlour_sdk.protocol.components import EventOutcome
from parlour_sdk.values import dataclass

from . import payloads
from .subscriptions import Audience, Turn


@dataclass(frozen=True, slots=True)
class Missed:
    """A plugin that could not be asked, or died over the event: it is told later."""

    handler: str
    """Whose turn it was."""
    failure: PluginUnavailable | PluginLost


@dataclass(slots=True)
class Heard:
    """What the listeners made of an event."""

    told: list[str] = field(default_factory=list)
    """The plugins whose handlers have all had their turn."""
    past: dict[str, list[str]] = field(default_factory=dict)
    """By plugin, the handlers whose turn it will not be again: they have heard it, or others stopped it before."""
    handled_by: list[str] = field(default_factory=list)
    stopped_by: str = ""
    missed: dict[str, Missed] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    """What handlers failed at, in sentences."""


class Listening:
    def __init__(
        self, audience: Audience, plugins: PluginCaller, bots: BotBook, names: NameDirectory, seconds: float
    ) -> None:
        self._names = names
        self._audience = audience
        self._plugins = plugins
        self._bots = bots
        self._seconds = seconds

    async def hand(self, event: RecordedEvent, plugins: Sequence[str] = ()) -> Heard:
        """To all who want it among these plugins, by priority. After one stopped it, the rest may only look on."""
        return await self._hand(event, self._audience.turns(event.envelope.event_type, plugins), False)

    async def again(self, event: RecordedEvent, plugin_id: str, observing: bool, past: Sequence[str]) -> Heard:
        """To one plugin that has yet to hear it, except for handlers that are past it. Its handlers may only look on
        where somebody else handles it.
        """
        if not self._audience.knows(plugin_id):
            return Heard(missed={plugin_id: Missed("", _absent(plugin_id))})
        turns = self._audience.turns(event.envelope.event_type, (plugin_id,))
        return await self._hand(event, [turn for turn in turns if turn.handler not in past], observing)

    async def _hand(self, event: RecordedEvent, turns: Sequence[Turn], observing: bool) -> Heard:
        heard, told, variables = Heard(), dict[str, None](), dict[str, Any]()
        if turns:
            event = await self._names.named(event)
        for turn in turns:
            past = heard.past.setdefault(turn.plugin_id, [])
            only_looks = observing or bool(heard.stopped_by)
            if only_looks and not turn.observes:
                past.append(turn.handler)
                continue
            if turn.plugin_id in heard.missed:
                continue  # a plugin's handlers hear it in their order, also later
            try:
                outcome = await self.tell(event, turn, only_looks, variables)
            except (PluginUnavailable, PluginLost) as failure:
                heard.missed[turn.plugin_id] = Missed(turn.handler, failure)
                continue
            except PluginRefused as refused:
                heard.failures.append(f"{_label(turn)} failed: {refused}")
            else:
                _note(heard, turn, outcome)
                variables = _changed(variables, outcome.variables)
            past.append(turn.handler)
            told[turn.plugin_id] = None
        heard.told = [plugin_id for plugin_id in told if plugin_id not in heard.missed]
        return heard

    async def tell(self, event: RecordedEvent, turn: Turn, observing: bool, variables: dict[str, Any]) -> EventOutcome:
        """Raises PluginUnavailable, PluginLost and PluginRefused. One that has yet to come up is not waited for."""
        if not self._audience.knows(turn.plugin_id):
            raise _absent(turn.plugin_id)
        request = {
            "event": payloads.event(event),
            "bot": payloads.bot(self._bots, event.envelope.bot_id),
            "conversation_id": event.conversation_id,
            "variables": variables,
            "observing": observing,
        }
        if turn.handler:
            request["handler"] = turn.handler
        answer = await self._plugins.call(turn.plugin_id, "emit_event", request, self._seconds)
        try:
            return EventOutcome.model_validate(answer)
        except ValidationError as error:
            raise PluginRefused("invalid_argument", "its answer to emit_event can't be read") from error


def _absent(plugin_id: str) -> PluginUnavailable:
    return PluginUnavailable(f"plugin {plugin_id} has not come up")


def _label(turn: Turn) -> str:
    return f"{turn.plugin_id}: its handler {turn.handler}" if turn.handler else turn.plugin_id


def _note(heard: Heard, turn: Turn, outcome: EventOutcome) -> None:
    plugin_id = turn.plugin_id
    if outcome.handled and plugin_id not in heard.handled_by:
        heard.handled_by.append(plugin_id)
    if outcome.stop_propagation:
        heard.stopped_by = plugin_id
    heard.failures += [f"{plugin_id}: its handler {name} failed" for name in outcome.failed]


def _changed(variables: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """What was removed is told as null."""
    return {name: value for name, value in {**variables, **changes}.items() if value is not None}

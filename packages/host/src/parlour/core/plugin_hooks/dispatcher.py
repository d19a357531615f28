"""Calls the plugins' handlers for an event, one after another. Callers record the result.

Each handler is called separately: handlers of several plugins are called by priority, and one that hangs uses only its
own time. A plugin that does not report its handlers is called once for all of them.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from pydantic import ValidationError

from parlour.core.config.bots import BotRepository
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ports import PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.platforms.names import NameDirectory
from parlour_sdk.protocol.components import EventOutcome
from parlour_sdk.values import dataclass

from . import payloads
from .subscriptions import HandlerCall, ListenerSubscriptions


@dataclass(frozen=True, slots=True)
class FailedListener:
    """A plugin that was unavailable or crashed during the event; the event is delivered to it later."""

    handler: str
    """The handler that was to be called."""
    failure: PluginUnavailable | PluginDisconnected


@dataclass(slots=True)
class DispatchResult:
    """The result of dispatching an event."""

    completed_plugins: list[str] = field(default_factory=list)
    """Plugins whose handlers were all called."""
    finished_handlers: dict[str, list[str]] = field(default_factory=dict)
    """Handlers by plugin that will not be called again: they were called, or propagation was stopped before them."""
    handled_by: list[str] = field(default_factory=list)
    stopped_by: str = ""
    failed_listeners: dict[str, FailedListener] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    """Messages about failures of handlers."""


class ListenerDispatcher:
    """Dispatches events to listeners."""

    def __init__(
        self,
        audience: ListenerSubscriptions,
        plugins: PluginCaller,
        bots: BotRepository,
        names: NameDirectory,
        seconds: float,
    ) -> None:
        self._names = names
        self._audience = audience
        self._plugins = plugins
        self._bots = bots
        self._seconds = seconds

    async def dispatch(self, event: RecordedEvent, plugins: Sequence[str] = ()) -> DispatchResult:
        """Dispatches an event to these plugins' handlers by priority. After one stopped it, the rest are called as
        observers only.
        """
        return await self._dispatch(event, self._audience.handler_calls(event.envelope.event_type, plugins), False)

    async def redeliver(
        self, event: RecordedEvent, plugin_id: str, observing: bool, past: Sequence[str]
    ) -> DispatchResult:
        """Dispatches an event again to one plugin, without the handlers in `past`.

        They are called as observers only if another handler is responsible for the event.
        """
        if not self._audience.has_reported(plugin_id):
            return DispatchResult(failed_listeners={plugin_id: FailedListener("", _not_started(plugin_id))})
        turns = self._audience.handler_calls(event.envelope.event_type, (plugin_id,))
        return await self._dispatch(event, [turn for turn in turns if turn.handler not in past], observing)

    async def _dispatch(self, event: RecordedEvent, turns: Sequence[HandlerCall], observing: bool) -> DispatchResult:
        heard, told, variables = DispatchResult(), dict[str, None](), dict[str, Any]()
        if turns:
            event = await self._names.with_names(event)
        for turn in turns:
            past = heard.finished_handlers.setdefault(turn.plugin_id, [])
            only_looks = observing or bool(heard.stopped_by)
            if only_looks and not turn.is_observer:
                past.append(turn.handler)
                continue
            if turn.plugin_id in heard.failed_listeners:
                continue  # a plugin's handlers receive events in order, also when they are retried
            try:
                outcome = await self.call_handler(event, turn, only_looks, variables)
            except (PluginUnavailable, PluginDisconnected) as failure:
                heard.failed_listeners[turn.plugin_id] = FailedListener(turn.handler, failure)
                continue
            except PluginCallFailed as refused:
                heard.failures.append(f"{_label(turn)} failed: {refused}")
            else:
                _record_outcome(heard, turn, outcome)
                variables = _merge_variables(variables, outcome.variables)
            past.append(turn.handler)
            told[turn.plugin_id] = None
        heard.completed_plugins = [plugin_id for plugin_id in told if plugin_id not in heard.failed_listeners]
        return heard

    async def call_handler(
        self, event: RecordedEvent, turn: HandlerCall, observing: bool, variables: dict[str, Any]
    ) -> EventOutcome:
        """Calls one handler. Raises PluginUnavailable, PluginDisconnected or PluginCallFailed. Does not wait for a
        plugin to start.
        """
        if not self._audience.has_reported(turn.plugin_id):
            raise _not_started(turn.plugin_id)
        request = {
            "event": payloads.event_payload(event),
            "bot": payloads.bot_payload(self._bots, event.envelope.bot_id),
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
            raise PluginCallFailed("invalid_argument", "its answer to emit_event can't be read") from error


def _not_started(plugin_id: str) -> PluginUnavailable:
    return PluginUnavailable(f"plugin {plugin_id} has not come up")


def _label(turn: HandlerCall) -> str:
    return f"{turn.plugin_id}: its handler {turn.handler}" if turn.handler else turn.plugin_id


def _record_outcome(heard: DispatchResult, turn: HandlerCall, outcome: EventOutcome) -> None:
    plugin_id = turn.plugin_id
    if outcome.handled and plugin_id not in heard.handled_by:
        heard.handled_by.append(plugin_id)
    if outcome.stop_propagation:
        heard.stopped_by = plugin_id
    heard.failures += [f"{plugin_id}: its handler {name} failed" for name in outcome.failed]


def _merge_variables(variables: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Merges changed variables; null removes a variable."""
    return {name: value for name, value in {**variables, **changes}.items() if value is not None}

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
from parlour.core.model.ids import PluginId
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

    completed_plugins: list[PluginId] = field(default_factory=list)
    """Plugins whose handlers were all called."""
    finished_handlers: dict[PluginId, list[str]] = field(default_factory=dict)
    """Handlers by plugin that will not be called again: they were called, or propagation was stopped before them."""
    handled_by: list[str] = field(default_factory=list)
    stopped_by: str = ""
    failed_listeners: dict[PluginId, FailedListener] = field(default_factory=dict)
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

    async def dispatch(self, event: RecordedEvent, plugins: Sequence[PluginId] = ()) -> DispatchResult:
        """Dispatches an event to these plugins' handlers by priority. After one stopped it, the rest are called as
        observers only.
        """
        return await self._dispatch(event, self._audience.handler_calls(event.envelope.event_type, plugins), False)

    async def redeliver(
        self, event: RecordedEvent, plugin_id: PluginId, observe_only: bool, finished_handlers: Sequence[str]
    ) -> DispatchResult:
        """Dispatches an event again to one plugin, without the handlers in `finished_handlers`.

        They are called as observers only if another handler is responsible for the event.
        """
        if not self._audience.has_reported(plugin_id):
            return DispatchResult(failed_listeners={plugin_id: FailedListener("", _not_started(plugin_id))})
        turns = self._audience.handler_calls(event.envelope.event_type, (plugin_id,))
        return await self._dispatch(
            event,
            [handler_call for handler_call in turns if handler_call.handler not in finished_handlers],
            observe_only,
        )

    async def _dispatch(self, event: RecordedEvent, turns: Sequence[HandlerCall], observe_only: bool) -> DispatchResult:
        result, called_plugins, variables = DispatchResult(), dict[PluginId, None](), dict[str, Any]()
        if turns:
            event = await self._names.with_names(event)
        for handler_call in turns:
            finished = result.finished_handlers.setdefault(handler_call.plugin_id, [])
            observe = observe_only or bool(result.stopped_by)
            if observe and not handler_call.is_observer:
                finished.append(handler_call.handler)
                continue
            if handler_call.plugin_id in result.failed_listeners:
                continue  # a plugin's handlers receive events in order, also when they are retried
            try:
                outcome = await self.call_handler(event, handler_call, observe, variables)
            except (PluginUnavailable, PluginDisconnected) as failure:
                result.failed_listeners[handler_call.plugin_id] = FailedListener(handler_call.handler, failure)
                continue
            except PluginCallFailed as call_failure:
                result.failures.append(f"{_label(handler_call)} failed: {call_failure}")
            else:
                _record_outcome(result, handler_call, outcome)
                variables = merge_variables(variables, outcome.variables)
            finished.append(handler_call.handler)
            called_plugins[handler_call.plugin_id] = None
        result.completed_plugins = [
            plugin_id for plugin_id in called_plugins if plugin_id not in result.failed_listeners
        ]
        return result

    async def call_handler(
        self,
        event: RecordedEvent,
        handler_call: HandlerCall,
        observe_only: bool,
        variables: dict[str, Any],
        rehearsal: bool = False,
    ) -> EventOutcome:
        """Calls one handler. Raises PluginUnavailable, PluginDisconnected or PluginCallFailed. Does not wait for a
        plugin to start.
        """
        if not self._audience.has_reported(handler_call.plugin_id):
            raise _not_started(handler_call.plugin_id)
        request: dict[str, Any] = {
            "event": payloads.event_payload(event),
            "bot": payloads.bot_payload(self._bots, event.envelope.bot_id),
            "conversation_id": event.conversation_id,
            "variables": variables,
            "observing": observe_only,
        }
        if rehearsal or event.envelope.is_preview:
            request["rehearsal"] = True
        if handler_call.handler:
            request["handler"] = handler_call.handler
        answer = await self._plugins.call(handler_call.plugin_id, "emit_event", request, self._seconds)
        try:
            return EventOutcome.model_validate(answer)
        except ValidationError as error:
            raise PluginCallFailed("invalid_argument", "its answer to emit_event can't be read") from error


def _not_started(plugin_id: PluginId) -> PluginUnavailable:
    return PluginUnavailable(f"plugin {plugin_id} has not come up")


def _label(handler_call: HandlerCall) -> str:
    return (
        f"{handler_call.plugin_id}: its handler {handler_call.handler}"
        if handler_call.handler
        else handler_call.plugin_id
    )


def _record_outcome(result: DispatchResult, handler_call: HandlerCall, outcome: EventOutcome) -> None:
    plugin_id = handler_call.plugin_id
    if outcome.handled and plugin_id not in result.handled_by:
        result.handled_by.append(plugin_id)
    if outcome.stop_propagation:
        result.stopped_by = plugin_id
    result.failures += [f"{plugin_id}: its handler {name} failed" for name in outcome.failed]


def merge_variables(variables: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Merges changed variables; null removes a variable."""
    return {name: value for name, value in {**variables, **changes}.items() if value is not None}

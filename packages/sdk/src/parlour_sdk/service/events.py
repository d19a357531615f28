"""Serves events: subscribed handlers receive an event in order of priority; a failure does not affect the others."""

import json
import logging
from typing import Any

from pydantic import ValidationError

from parlour_sdk.api import PluginAPI
from parlour_sdk.components.event_context import EventContext, ObservingContext
from parlour_sdk.components.event_listener import Handler, iter_handlers
from parlour_sdk.plugin.loaded_plugin import LoadedPlugin
from parlour_sdk.protocol.component_specs import ListenerSpec
from parlour_sdk.protocol.components import CommandReply, EmitEvent, EventOutcome, PromptAddition
from parlour_sdk.protocol.platform_events import PlatformEvent, event_class
from parlour_sdk.wire import WireError

from .requests import COMPONENT_FAILURES, parse_request, to_json_dict

logger = logging.getLogger("parlour.worker")


class ListenerService:
    def __init__(self, plugin: LoadedPlugin, api: PluginAPI) -> None:
        self._handlers = sorted_handlers(plugin)
        self._api = api

    async def emit_event(self, data: Any) -> dict[str, Any]:
        request = parse_request(EmitEvent, data, "emit_event")
        event = _parsed(request.event)
        handling = _EventDispatch(event, request, self._api)
        for handler in self._handlers:
            if handler.matches(event.type) and _is_addressed(handler, request):
                await handling.deliver(handler)
        return to_json_dict(handling.outcome())


def _is_addressed(handler: Handler, request: EmitEvent) -> bool:
    return request.handler in (None, handler.name) and (handler.observe or not request.observing)


def sorted_handlers(plugin: LoadedPlugin) -> list[Handler]:
    """Returns the handlers by descending priority; equal ones in the order of declaration."""
    handlers = [
        handler
        for name, listener in plugin.listeners.items()
        for handler in _handlers_of(listener, name, ListenerSpec.model_validate(plugin.spec("EventListener", name)))
    ]
    return sorted(handlers, key=lambda handler: -handler.priority)


def _handlers_of(listener: Any, name: str, spec: ListenerSpec) -> list[Handler]:
    return list(iter_handlers(listener, name, spec.priority, spec.observe))


def _parsed(event: dict[str, Any]) -> PlatformEvent:
    """Parses the event. An unknown type of a newer Host still reaches handlers of a pattern, with the common fields."""
    try:
        return (event_class(str(event.get("type", ""))) or PlatformEvent).model_validate(event)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first_error["loc"])
        raise WireError("invalid_argument", f"emit_event: event.{field}: {first_error['msg']}") from error


class _EventDispatch:
    """Passes one event through the handlers and collects the outcome."""

    def __init__(self, event: PlatformEvent, request: EmitEvent, api: PluginAPI) -> None:
        self._event = event
        self._request = request
        self._api = api
        self._variables = request.variables
        self._handled = self._stopped = False
        self._additions: list[PromptAddition] = []
        self._changes: dict[str, Any] = {}
        """Changes of the prompt, the input and the reply, and findings, by field of the outcome."""
        self._replies: list[CommandReply] = []
        self._failed: list[str] = []

    async def deliver(self, handler: Handler) -> None:
        if self._stopped and not handler.observe:
            return
        view = ObservingContext if handler.observe else EventContext
        context = view(self._event, self._request, self._variables, self._api)
        try:
            await handler.call(self._event, context)
            json.dumps(dict(context.variables))  # values that can't be serialized count as the handler's failure
        except COMPONENT_FAILURES:
            logger.exception("%s failed on %s %s", handler.name, self._event.type, self._event.event_id)
            self._failed.append(handler.name)
            return
        if not handler.observe:
            self._apply(context)

    def _apply(self, context: EventContext) -> None:
        self._handled = True
        self._variables = dict(context.variables)
        self._stopped = context.stopped
        self._additions += context.prompt_additions
        self._replies += context.replies
        changes = {
            "prompt": context.prompt,
            "input": context.changed_input,
            "replacement": context.replacement,
            "finding": context.finding,
        }
        self._changes |= {name: value for name, value in changes.items() if value is not None}

    def outcome(self) -> EventOutcome:
        return EventOutcome(
            handled=self._handled,
            stop_propagation=self._stopped,
            variables=_changes(self._request.variables, self._variables),
            prompt_additions=self._additions,
            replies=self._replies,
            **self._changes,
            failed=self._failed,
        )


def _changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Returns the variables that were set; removed ones are null."""
    missing = object()
    changed = {key: value for key, value in after.items() if before.get(key, missing) != value}
    return {**dict.fromkeys(before.keys() - after.keys()), **changed}

"""Asks plugins on the path of a message: one handler after another, all of them within one time limit.

A handler that fails, answers with something invalid or does not answer in time changes nothing, and the message goes
on. Only plugins that were granted the event by its own name are asked.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.errors import CallRejected
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import PluginId
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.model.resource_policy import Names, Selection
from parlour_sdk.protocol.components import EventOutcome
from parlour_sdk.values import dataclass

from .dispatcher import ListenerDispatcher, merge_variables
from .subscriptions import HandlerCall, ListenerSubscriptions

logger = logging.getLogger(__name__)

HOOK_SECONDS = 5.0
"""Seconds for all handlers of one event together; the sender of the message waits during this time."""
MAX_VARIABLES_BYTES = 64 * 1024
"""Size of the variables of an event."""
MAX_REASON_CHARACTERS = 200

Apply = Callable[[PluginId, EventOutcome], str]
"""Applies the outcome of a handler and returns a code that says what it changed. Raises CallRejected."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What one plugin answered, for the trail."""

    plugin_id: PluginId
    code: str
    """`passed`, `failed`, `late`, or what it changed."""
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        return {"plugin": self.plugin_id, "code": self.code, **({"reason": self.reason} if self.reason else {})}


@dataclass(slots=True)
class HookRound:
    """The answers to one event, and the variables that were set."""

    answers: list[HookAnswer] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    stopped_by: str = ""

    def to_json(self) -> list[dict[str, str]]:
        return [answer.to_json() for answer in self.answers]


class PathHooks:
    """Asks plugins about messages, replies and prompts."""

    def __init__(self, subscriptions: ListenerSubscriptions, dispatcher: ListenerDispatcher) -> None:
        self._subscriptions = subscriptions
        self._dispatcher = dispatcher

    def calls(self, event_type: str, plugins: Names = "*") -> list[HandlerCall]:
        """Returns the handlers that are asked, by priority; `plugins` are those that may take part."""
        calls = self._subscriptions.handler_calls(event_type)
        if plugins == "*" or not calls:
            return [each for each in calls if not each.is_observer]
        selection = Selection.parse(plugins)
        return [each for each in calls if each.plugin_id in selection and not each.is_observer]

    async def ask(
        self,
        calls: Sequence[HandlerCall],
        build_event: Callable[[], RecordedEvent],
        apply: Apply,
        variables: dict[str, Any],
        rehearsal: bool,
        seconds_are_shared: bool = True,
    ) -> HookRound:
        """Asks the handlers in order, until one stops the event or the time is over. `build_event` returns the event
        with what the handlers before have changed. Without `seconds_are_shared` each handler has the time for itself.
        """
        hooks, started = HookRound(variables=dict(variables)), asyncio.get_running_loop().time()
        for position, handler_call in enumerate(calls):
            passed = asyncio.get_running_loop().time() - started if seconds_are_shared else 0
            remaining = HOOK_SECONDS - passed
            if remaining <= 0:
                hooks.answers += [HookAnswer(each.plugin_id, "late") for each in calls[position:]]
                break
            answer = await self._ask_one(handler_call, build_event(), apply, hooks, rehearsal, remaining)
            hooks.answers.append(answer)
            if hooks.stopped_by:
                break
        return hooks

    async def _ask_one(
        self,
        handler_call: HandlerCall,
        event: RecordedEvent,
        apply: Apply,
        hooks: HookRound,
        rehearsal: bool,
        seconds: float,
    ) -> HookAnswer:
        plugin_id = handler_call.plugin_id
        try:
            async with asyncio.timeout(seconds):
                outcome = await self._dispatcher.call_handler(event, handler_call, False, hooks.variables, rehearsal)
            if outcome.failed:
                raise PluginCallFailed("plugin_failed", "its handler failed; the log of the plugin says why")
            changed = merge_variables(hooks.variables, outcome.variables)
            if outcome.variables and len(dumps(changed)) > MAX_VARIABLES_BYTES:
                raise CallRejected("too_large", f"its variables are larger than {MAX_VARIABLES_BYTES} bytes")
            code = apply(plugin_id, outcome)
        except TimeoutError:
            logger.warning("plugin %s did not answer %s in time", plugin_id, event.envelope.event_type)
            return HookAnswer(plugin_id, "late")
        except (PluginUnavailable, PluginDisconnected, PluginCallFailed, CallRejected) as failure:
            logger.warning("plugin %s failed on %s: %s", plugin_id, event.envelope.event_type, failure)
            return HookAnswer(plugin_id, "failed", str(failure)[:MAX_REASON_CHARACTERS])
        hooks.variables = changed
        if outcome.stop_propagation:
            hooks.stopped_by = plugin_id
        return HookAnswer(plugin_id, code)

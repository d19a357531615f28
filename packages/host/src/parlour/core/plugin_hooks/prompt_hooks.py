"""Lets listeners add to the prompt of a run before it starts. They can only add, not change.

The prompt is the runner's configuration field of that type. A handler that fails or times out adds nothing and does not
stop the others.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parlour.core.config.form_validation import with_defaults
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventContext, Participant, RecordedEvent
from parlour.core.model.ids import EventId
from parlour.core.model.ports import Clock, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.runs.session import RunSession
from parlour_sdk.protocol.components import PromptAddition
from parlour_sdk.protocol.form import FormItem

from .dispatcher import ListenerDispatcher, merge_variables
from .host_events import ORIGIN, SOURCE
from .subscriptions import HandlerCall, ListenerSubscriptions

logger = logging.getLogger(__name__)

EVENT_TYPE = "prompt.preparing"
HANDLER_TIMEOUT_SECONDS = 5.0
"""Seconds for each handler; the sender waits for the answer during this time."""


class PluginPromptHooks:
    """Calls the prompt hooks of plugins."""

    def __init__(self, audience: ListenerSubscriptions, dispatcher: ListenerDispatcher, clock: Clock) -> None:
        self._audience = audience
        self._dispatcher = dispatcher
        self._clock = clock

    def has_hooks(self, session: RunSession, descriptor: RunnerDescriptor) -> bool:
        """Returns whether there are hooks to call. Reruns call none."""
        return (
            bool(self._audience.subscribed_plugins(EVENT_TYPE))
            and bool(_prompt_field(descriptor))
            and session.dry_run is None
        )

    async def apply(self, session: RunSession, descriptor: RunnerDescriptor) -> Binding:
        """Returns the run's binding with the additions to its prompt."""
        binding, config_schema = session.binding, descriptor.manifest.config_schema
        if not self.has_hooks(session, descriptor):
            return binding
        turns, field = self._audience.handler_calls(EVENT_TYPE), _prompt_field(descriptor)
        additions = await self._additions(_event(session, self._clock.now()), turns)
        if not additions:
            return binding
        config = with_additions(config_schema, binding.agent.runner_config, field, additions)
        return replace(binding, agent=replace(binding.agent, runner_config=config))

    async def _additions(self, event: RecordedEvent, turns: Sequence[HandlerCall]) -> list[PromptAddition]:
        additions: list[PromptAddition] = []
        variables: dict[str, Any] = {}
        for handler_call in turns:
            try:
                async with asyncio.timeout(HANDLER_TIMEOUT_SECONDS):
                    outcome = await self._dispatcher.call_handler(event, handler_call, False, variables)
            except (PluginUnavailable, PluginDisconnected, PluginCallFailed, TimeoutError) as failure:
                logger.warning("prompt hooks of plugin %s failed: %s", handler_call.plugin_id, failure)
                continue
            additions += outcome.prompt_additions
            variables = merge_variables(variables, outcome.variables)
            if outcome.stop_propagation:
                break
        return additions


def with_additions(
    config_schema: list[FormItem], config: dict[str, Any], field: str, additions: Sequence[PromptAddition]
) -> dict[str, Any]:
    """Appends the additions to the prompt. A text prompt stays a text unless an addition is not of role system."""
    prompt = with_defaults(config_schema, config).get(field) or ""
    if isinstance(prompt, str) and all(each.role == "system" for each in additions):
        return {**config, field: "\n\n".join(filter(None, (prompt, *(each.text for each in additions))))}
    messages = [{"role": "system", "content": prompt}] if isinstance(prompt, str) and prompt else list(prompt)
    return {**config, field: [*messages, *({"role": each.role, "content": each.text} for each in additions)]}


def _prompt_field(descriptor: RunnerDescriptor) -> str:
    return next((item.name for item in descriptor.manifest.config_schema if item.type == "prompt-editor"), "")


def _event(session: RunSession, now: int) -> RecordedEvent:
    """Builds the event for the hooks. It is not recorded: the additions are part of the run's recorded context."""
    cause = session.event
    identity = EventId(f"prompt:{session.run_id}")
    envelope = replace(
        cause.envelope,
        event_id=identity,
        event_type=EVENT_TYPE,
        source=SOURCE,
        context=EventContext(identity, cause.envelope.context.id, ORIGIN),
        event_time=now,
        subject=Participant("run", session.run_id),
        data={
            "run_id": session.run_id,
            "conversation_id": cause.conversation_id,
            "text": cause.envelope.text or None,
        },
    )
    return RecordedEvent(cause.seq, cause.conversation_id, now, envelope)

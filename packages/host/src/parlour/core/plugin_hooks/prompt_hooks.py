"""Lets listeners add to the prompt of a run before it starts, or replace its messages.

The prompt is the runner's configuration field of that type. A handler that fails or times out changes nothing and does
not stop the others.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parlour.core.config.form_validation import with_defaults
from parlour.core.encoding import dumps
from parlour.core.errors import CallRejected
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventContext, Participant, RecordedEvent
from parlour.core.model.ids import EventId, PluginId
from parlour.core.model.ports import Clock
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.runs.session import RunSession
from parlour_sdk.protocol.components import EventOutcome, PromptAddition
from parlour_sdk.protocol.form import FormItem

from .arrival_hooks import hook_plugins
from .host_events import ORIGIN, SOURCE
from .path_hooks import PathHooks

EVENT_TYPE = "prompt.preparing"
MAX_PROMPT_BYTES = 256 * 1024
"""Size of a prompt that plugins replaced or added to."""


class PluginPromptHooks:
    """Calls the prompt hooks of plugins."""

    def __init__(self, hooks: PathHooks, clock: Clock) -> None:
        self._hooks = hooks
        self._clock = clock

    def has_hooks(self, session: RunSession, descriptor: RunnerDescriptor) -> bool:
        """Returns whether there are hooks to call."""
        calls = self._hooks.calls(EVENT_TYPE, hook_plugins(session.binding))
        return bool(calls) and bool(_prompt_field(descriptor))

    async def apply(self, session: RunSession, descriptor: RunnerDescriptor) -> Binding:
        """Returns the run's binding with the prompt as the hooks changed it. The answers become events of the run."""
        binding, config_schema = session.binding, descriptor.manifest.config_schema
        if not self.has_hooks(session, descriptor):
            return binding
        field = _prompt_field(descriptor)
        changes = _PromptChanges(config_schema, binding.agent.runner_config, field)
        hooks = await self._hooks.ask(
            self._hooks.calls(EVENT_TYPE, hook_plugins(binding)),
            lambda: _event(session, changes.messages(), self._clock.now()),
            changes.apply,
            dict(session.entry.variables),
            rehearsal=session.dry_run is not None,
            seconds_are_shared=False,
        )
        session.meter.record_event("hook.asked", {"event": EVENT_TYPE, "hooks": hooks.to_json()})
        if not changes.config:
            return binding
        return replace(binding, agent=replace(binding.agent, runner_config=changes.config))


class _PromptChanges:
    """Collects what plugins make of a prompt."""

    def __init__(self, config_schema: list[FormItem], config: dict[str, Any], field: str) -> None:
        self.config: dict[str, Any] = {}
        """Configuration of the runner with the changed prompt; empty while nothing is changed."""
        self._schema = config_schema
        self._original = config
        self._field = field

    def messages(self) -> list[dict[str, Any]]:
        """Returns the prompt as messages."""
        return _messages(with_defaults(self._schema, self.config or self._original).get(self._field))

    def apply(self, plugin_id: PluginId, outcome: EventOutcome) -> str:
        if outcome.prompt is None and not outcome.prompt_additions:
            return "passed"
        config = self.config or self._original
        if outcome.prompt is not None:
            config = {**config, self._field: [each.model_dump(mode="json") for each in outcome.prompt]}
        if outcome.prompt_additions:
            config = with_additions(self._schema, config, self._field, outcome.prompt_additions)
        if len(dumps(config[self._field]).encode(errors="replace")) > MAX_PROMPT_BYTES:
            raise CallRejected("too_large", f"the prompt is larger than {MAX_PROMPT_BYTES} bytes")
        self.config = config
        return "replaced_prompt" if outcome.prompt is not None else "added_to_prompt"


def with_additions(
    config_schema: list[FormItem], config: dict[str, Any], field: str, additions: Sequence[PromptAddition]
) -> dict[str, Any]:
    """Appends the additions to the prompt. A text prompt stays a text unless an addition is not of role system."""
    prompt = with_defaults(config_schema, config).get(field) or ""
    if isinstance(prompt, str) and all(each.role == "system" for each in additions):
        return {**config, field: "\n\n".join(filter(None, (prompt, *(each.text for each in additions))))}
    return {**config, field: [*_messages(prompt), *({"role": each.role, "content": each.text} for each in additions)]}


def _messages(prompt: Any) -> list[dict[str, Any]]:
    """Returns a prompt as messages; a text is one of role system."""
    if isinstance(prompt, str):
        return [{"role": "system", "content": prompt}] if prompt else []
    return list(prompt or [])


def _prompt_field(descriptor: RunnerDescriptor) -> str:
    return next((item.name for item in descriptor.manifest.config_schema if item.type == "prompt-editor"), "")


def _event(session: RunSession, prompt: list[dict[str, Any]], now: int) -> RecordedEvent:
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
            "prompt": prompt,
        },
    )
    return RecordedEvent(cause.seq, cause.conversation_id, now, envelope)

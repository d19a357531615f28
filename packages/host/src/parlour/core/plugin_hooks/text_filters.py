"""The filter of a message policy that asks a plugin. It is asked only if it was granted the event by its name."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from parlour.core.errors import CallRejected
from parlour.core.message_policy.checks import FilterFailed, FilterSubject
from parlour.core.message_policy.filters import FilterVerdict
from parlour.core.model.event import EventContext, RecordedEvent
from parlour.core.model.ids import EventId, PluginId
from parlour.core.model.ports import Clock
from parlour_sdk.protocol.components import EventOutcome

from .host_events import ORIGIN, SOURCE
from .path_hooks import PathHooks

if TYPE_CHECKING:
    from parlour.core.message_policy.schema import AskingFilter, PluginFilterConfig

EVENT_TYPE = "text.filtering"
MAX_FINDING_CHARACTERS = 200


class PluginFilter:
    """Asks plugins about texts."""

    def __init__(self, hooks: PathHooks, clock: Clock) -> None:
        self._hooks = hooks
        self._clock = clock

    async def check(
        self, each: "AskingFilter", texts: Sequence[str], subject: FilterSubject, seconds: float
    ) -> FilterVerdict:
        config: PluginFilterConfig = each.config  # type: ignore[assignment]
        plugin_id, findings = PluginId(config.plugin_id), list[str]()
        calls = self._hooks.calls(EVENT_TYPE, (plugin_id,))
        if not calls:
            raise FilterFailed(f"plugin {plugin_id} does not run, or was not granted {EVENT_TYPE}")
        event = _hook_event(subject, texts, self._clock.now())

        def apply(_: PluginId, outcome: EventOutcome) -> str:
            if outcome.replies or outcome.prompt or outcome.prompt_additions or outcome.replacement or outcome.input:
                raise CallRejected("invalid_argument", f"only `finding` is possible for {EVENT_TYPE}")
            if outcome.finding:
                findings.append(" ".join(outcome.finding.split())[:MAX_FINDING_CHARACTERS])
            return "found" if outcome.finding else "passed"

        try:
            async with asyncio.timeout(seconds):
                hooks = await self._hooks.ask(calls, lambda: event, apply, {}, subject.rehearsal)
        except TimeoutError as error:
            raise FilterFailed(f"plugin {plugin_id} did not answer in {seconds:g} s") from error
        failed = next((answer for answer in hooks.answers if answer.code in ("failed", "late")), None)
        if failed is not None and not findings:
            raise FilterFailed(f"plugin {plugin_id} {failed.reason or 'did not answer in time'}")
        return FilterVerdict(bool(findings), ", ".join(findings))


def _hook_event(subject: FilterSubject, texts: Sequence[str], now: int) -> RecordedEvent:
    """Builds the event for the handlers. It is not stored."""
    cause = subject.event.envelope
    identity = EventId(f"filter:{subject.side}:{cause.event_id}")
    data = {
        "side": subject.side,
        "agent_id": subject.binding.agent.agent_id or None,
        "chat_type": cause.data.get("chat_type") or "private",
        "chat_id": str(cause.data.get("chat_id") or cause.chat),
        "text": "\n".join(texts),
    }
    envelope = replace(
        cause,
        event_id=identity,
        event_type=EVENT_TYPE,
        source=SOURCE,
        context=EventContext(identity, cause.context.id, ORIGIN),
        event_time=now,
        data=data,
    )
    return replace(subject.event, created_at=now, envelope=envelope)

"""Collects what the chat commands `/help`, `/model`, `/usage` and `/why` tell."""

from collections.abc import Sequence

from parlour.core.actions.catalog import BUILTIN_COMMANDS
from parlour.core.config.form_validation import selected_resources, with_defaults
from parlour.core.encoding import loads
from parlour.core.journal import Journal, Select, below, other_than, where
from parlour.core.message_policy.effective import decode_policy
from parlour.core.message_policy.limits import MessageLimits
from parlour.core.model.agent import Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ports import Clock
from parlour.core.model.providers import Models
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.store.tables import EVENTS, OUTCOMES, RUNS
from parlour.core.texts.catalogue import text
from parlour.core.texts.translation import translate
from parlour_sdk.protocol.base import I18nText

MAX_RUNS = 500
"""Newest runs of a conversation whose tokens are added."""
TOLD_STEPS = (
    "settled",
    "notice",
    "run.ended",
    "hooks",
    "hooks.arriving",
    "policy.input",
    "policy.output",
    "policy.gathered",
)
"""Steps of the trail that are told to the sender; the others are for operators."""
LOCALES = {"zh-Hans": "zh_Hans"}


class HostCommandFacts:
    """The facts of this Host."""

    def __init__(
        self,
        journal: Journal,
        components: ComponentRegistry,
        runners: RunnerRegistry,
        models: Models,
        limits: MessageLimits,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._components = components
        self._runners = runners
        self._models = models
        self._limits = limits
        self._explanations = Explanations(journal, clock)

    def commands(self, language: str) -> Sequence[tuple[str, str]]:
        builtin = [(name, _localized(description, language)) for name, description in BUILTIN_COMMANDS.items()]
        return [
            *builtin,
            *((each.name, _localized(each.description, language)) for each in self._components.commands()),
        ]

    def models(self, binding: Binding) -> Sequence[str]:
        descriptor = self._runners.get(binding.agent.runner_id)
        form = descriptor.manifest.config_schema if descriptor is not None else []
        selected = selected_resources(form, with_defaults(form, binding.agent.runner_config)).get("models", frozenset())
        names = {each.model_id: each.name for each in self._models.resources()}
        return sorted(names.get(model_id, model_id) for model_id in selected)

    async def usage(self, event: RecordedEvent, binding: Binding, language: str) -> Sequence[str]:
        policy = decode_policy(binding.agent.message_policy)
        states = await self._limits.states(policy, binding.limits_owner, event) if policy is not None else ()
        lines = [text(f"command.usage_{limit.per}", language, left=left, count=limit.count) for limit, left in states]
        rows = await self._journal.read(
            Select(
                RUNS,
                where(conversation_id=event.conversation_id, rerun_of=""),
                ("usage",),
                order=("created_at",),
                direction="descending",
                limit=MAX_RUNS,
            )
        )
        usages = [loads(row["usage"] or "{}") for row in rows]
        tokens = sum(int(each.get("prompt_tokens") or 0) + int(each.get("completion_tokens") or 0) for each in usages)
        return [*lines, text("command.usage_tokens", language, runs=len(usages), tokens=tokens)]

    async def why(self, event: RecordedEvent, language: str) -> Sequence[str]:
        envelope = event.envelope
        conditions = where(
            conversation_id=event.conversation_id,
            actor_id=envelope.actor.id,
            event_type="message.received",
            seq=below(event.seq),
        )
        rows = await self._journal.read(Select(EVENTS, conditions, order=("seq",), direction="descending", limit=20))
        for row in rows:
            outcomes = where(event_seq=row["seq"], outcome=other_than("control"))
            if not await self._journal.read(Select(OUTCOMES, outcomes, ("event_seq",), limit=1)):
                continue
            explanation = await self._explanations.explain(row, reruns=False)
            told = [step.text for step in explanation.steps if step.step in TOLD_STEPS]
            return [translate(each, language) for each in told]
        return []


def _localized(description: I18nText | None, language: str) -> str:
    texts = description or {}
    return texts.get(LOCALES.get(language, "en_US")) or texts.get("en_US", "")

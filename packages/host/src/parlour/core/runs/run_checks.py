"""The checks that a run passes before it begins. All ways to begin a run use them: together with its event, at the turn
of its event, on request of a plugin, as a retry and as a rerun.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parlour.core.config import secret_fields
from parlour.core.config.form_validation import validate, with_defaults
from parlour.core.delivery import notices
from parlour.core.errors import CallRejected
from parlour.core.message_policy.filtered import FilteredMessage
from parlour.core.model.agent import Agent, Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import RunnerId
from parlour.core.model.resource_policy import Selection
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.secrets import SecretBox
from parlour_sdk.values import dataclass

from . import retry_policy
from .loop_guard import LoopGuard
from .runner_registry import RunnerRegistry, missing_runner_message
from .session import QueuedEvent

LIMIT_REASONS = {
    "sender": "its sender has had the runs of this minute (runs.per_sender_per_minute)",
    "bots": "accounts that behave like bots have had their runs of this minute (runs.per_sender_per_minute)",
    "group": "the group has had its runs of this minute (runs.per_conversation_per_minute)",
}
"""Reasons of the outcome `limited`, by the limit that is exceeded."""
QUARANTINE_REASONS = {"agent": "it failed its run too often", "host": "the Host stopped each time that it was tried"}
"""Reasons of the outcome `quarantined`, by the part that failed."""


@dataclass(frozen=True, slots=True)
class RunTarget:
    """The agent and the runner of a run."""

    binding: Binding
    descriptor: RunnerDescriptor


@dataclass(frozen=True, slots=True)
class RunObstacle:
    """The reason why an event gets no run: its outcome, the explanation, and the code of the notice to its sender."""

    outcome: str
    reason: str
    notice: str
    text: str = ""
    """Text of the notice, if it has one of its own."""
    filtered: FilteredMessage | None = None
    """What plugins are told, if a message policy decided this."""


class RunChecks:
    """Finds the runner of an agent, decrypts its secrets, and finds what keeps an event from having a run."""

    def __init__(self, registry: RunnerRegistry, secrets: SecretBox, limits: LoopGuard) -> None:
        self._registry = registry
        self._secrets = secrets
        self._limits = limits

    def find_runner(self, agent: Agent) -> RunnerDescriptor:
        """Returns the agent's runner. Raises CallRejected if there is none or the agent may not use its plugin."""
        descriptor = self._registry.get(agent.runner_id)
        if descriptor is None:
            raise CallRejected("not_found", missing_runner_message(agent.runner_id))
        if descriptor.plugin_id not in Selection.parse(agent.resource_policy.plugins):
            raise CallRejected("denied", f"plugin {descriptor.plugin_id} is not among the plugins this agent may use")
        return descriptor

    def is_starting(self, agent: Agent) -> bool:
        """Returns whether the plugin of the agent's runner is starting."""
        return self._registry.is_starting(agent.runner_id)

    async def wait_started(self, runner_id: RunnerId) -> None:
        """Returns when the plugin of a runner has started or failed to."""
        await self._registry.wait_started(runner_id)

    def with_secrets(self, binding: Binding) -> Binding:
        """Returns the binding with decrypted secrets, for its runner. Raises SecretUnreadable."""
        config = secret_fields.open_secrets(binding.agent.runner_config, self._secrets)
        if config is binding.agent.runner_config:
            return binding
        return replace(binding, agent=replace(binding.agent, runner_config=config))

    def resolve(self, binding: Binding) -> RunTarget:
        """Returns the target of a run. Raises CallRejected without a usable runner, and SecretUnreadable."""
        descriptor = self.find_runner(binding.agent)
        return RunTarget(self.with_secrets(binding), descriptor)

    def find_obstacle(self, entry: QueuedEvent, agent: Agent, now: int) -> RunObstacle | None:
        """Returns what keeps the event from having a run at this time; None if nothing does.

        A retry after a failure is not a new run, and no limit applies to it.
        """
        if cause := retry_policy.quarantine_cause(entry.tries):
            return RunObstacle("quarantined", QUARANTINE_REASONS[cause], notices.quarantine_notice(cause))
        if entry.event.is_older_than(agent.stale_after, now):
            return RunObstacle("expired", "it is older than the agent's stale_after", "expired")
        if not entry.attempts and (limit := self._limits.exceeded_limit(entry.event)):
            return RunObstacle("limited", LIMIT_REASONS[limit], f"limited.{limit}")
        return None

    def count(self, event: RecordedEvent) -> None:
        """Counts a new run of the event for the limits."""
        self._limits.record(event)


def find_config_problem(descriptor: RunnerDescriptor, config: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns the first field of a configuration that the runner's form does not accept, with the reason."""
    config_schema = descriptor.manifest.config_schema
    return next(iter(validate(config_schema, with_defaults(config_schema, dict(config)))), None)

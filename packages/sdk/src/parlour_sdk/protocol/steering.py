"""Messages that came while a run was active and that it claimed."""

from typing import Any, Literal

from .base import Positive, Strict, Tolerant
from .calls import RunCall
from .content import AgentInput
from .events import Actor, AgentEvent, Conversation, Subject

SteeringMode = Literal["all", "one-at-a-time"]


class SteeringPull(RunCall):
    """Asks for the messages that wait for this run."""

    mode: SteeringMode = "all"
    limit: Positive | None = None


class SteeringItem(Tolerant):
    """One message that the run claimed."""

    claimed_run_id: str
    runner_id: str
    claimed_at: int | None = None
    event: AgentEvent
    input: AgentInput
    conversation: Conversation | None = None
    actor: Actor | None = None
    subject: Subject | None = None
    metadata: dict[str, Any] = {}


class SteeringPullResult(Strict):
    """The messages that waited, in order."""

    items: list[SteeringItem] = []

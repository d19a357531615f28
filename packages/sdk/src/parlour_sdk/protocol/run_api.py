"""Requests and answers of the run API, one pair per wire action."""

from typing import Any, Literal

from pydantic import Field, JsonValue

from .base import Key, Strict, Tolerant
from .content import AgentInput
from .events import Actor, AgentEvent, Conversation, Subject
from .results import StateScope


class RunCall(Strict):
    """Every call names its run, and itself, so that a retried run can be given the recorded answer."""

    run_id: str
    call_id: str


class StateGet(RunCall):
    scope: StateScope
    key: Key


class StateSet(RunCall):
    scope: StateScope
    key: Key
    value: JsonValue


class StateDelete(RunCall):
    scope: StateScope
    key: Key


class StateList(RunCall):
    scope: StateScope
    prefix: str | None = None


class StateValue(Tolerant):
    found: bool
    value: Any = None


class StateKeys(Tolerant):
    keys: list[str]
    has_more: bool = False


class Done(Tolerant):
    """The answer of a call that has nothing to tell."""


class SteeringPull(RunCall):
    mode: Literal["all", "one-at-a-time"] = "all"
    limit: int | None = Field(default=None, ge=1)


class SteeringItem(Tolerant):
    claimed_run_id: str
    runner_id: str
    claimed_at: int | None = None
    event: AgentEvent
    input: AgentInput
    conversation: Conversation | None = None
    actor: Actor | None = None
    subject: Subject | None = None
    metadata: dict[str, Any] = {}


class SteeringPullResult(Tolerant):
    items: list[SteeringItem] = []


class HostVersionGet(RunCall):
    pass


class HostVersion(Tolerant):
    version: str
    protocol: int

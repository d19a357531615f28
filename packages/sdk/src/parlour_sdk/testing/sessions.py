"""The state of an active run in a test, and the caller of the fake Host."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Any

from parlour_sdk.protocol.errors import AgentAPIError
from parlour_sdk.protocol.runs import RunUsage
from parlour_sdk.protocol.steering import SteeringItem

from ..values import dataclass
from .grants import Grant

CALLS_PER_SECOND = 50
CALLS_BURST = 100


@dataclass(slots=True)
class RecordedCall:
    """A call to the Host, with its answer or error."""

    action: str
    arguments: dict[str, Any]
    answer: Any = None
    error: AgentAPIError | None = None

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={_short(value)}" for name, value in self.arguments.items())
        outcome = f" -> {self.error.code}: {self.error.message}" if self.error else ""
        return f"{self.action}({arguments}){outcome}"


@dataclass(slots=True)
class CallRate:
    """A token bucket for calls, on the event loop's clock."""

    per_second: float = CALLS_PER_SECOND
    burst: float = CALLS_BURST
    _tokens: float = CALLS_BURST
    _updated_at: float = 0.0

    def try_consume(self) -> bool:
        now = asyncio.get_running_loop().time()
        self._tokens = min(self.burst, self._tokens + (now - self._updated_at) * self.per_second)
        self._updated_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


@dataclass(slots=True)
class Session:
    run_id: str
    runner_id: str
    runner_name: str
    conversation_id: str
    grant: Grant
    stop_status: str | None = None
    """The status with which the Host ended the run: cancelled or timeout."""
    ended: bool = False
    rate: CallRate = field(default_factory=CallRate)
    calls: list[RecordedCall] = field(default_factory=list)
    usage: RunUsage = field(default_factory=RunUsage)
    warnings: list[str] = field(default_factory=list)
    waiting: deque[SteeringItem] = field(default_factory=deque)
    """Messages that the run has claimed but not pulled yet."""
    steering_by_pull: dict[int, list[str]] = field(default_factory=dict)
    """Messages that arrive just before the pull of this number."""
    pulls: int = 0
    raised: Exception | None = None
    """The exception that the runner's code raised."""
    on_change: Callable[[], None] = lambda: None
    """Called when the run's records have changed."""

    def add_usage(self, **counted: int) -> None:
        fields = self.usage.model_dump()
        self.usage = RunUsage(**{name: value + counted.get(name, 0) for name, value in fields.items()})


@dataclass(frozen=True, slots=True)
class Caller:
    """The plugin that makes a call, inside one of its runs or outside any."""

    grant: Grant
    session: Session | None = None

    @property
    def run(self) -> Session:
        assert self.session is not None
        return self.session


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

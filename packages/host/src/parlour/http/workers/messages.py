"""Messages between a Host and a worker process on another machine. Only those that serve workers import them."""

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId, RunId, RunnerId, RuntimeId
from parlour_sdk.protocol.runtimes import ProviderLogin
from parlour_sdk.wire import WireError

WORKER_PROTOCOL_VERSION: Final = 1
CONNECT_PATH: Final = "/runtimes/connect"
FRAME_GROWTH_BYTES: Final = 64 * 1024
"""Bytes by which a frame of a plugin may grow when it is sent on to the other side."""
IN_USE: Final = "in_use"
LEASE_LOST: Final = "lease_lost"
Message = TypeVar("Message", bound=BaseModel)


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class RunLease(_Message):
    """A run that the worker executes, with the lease of its claim."""

    run_id: RunId = Field(max_length=200)
    lease: str = Field(max_length=200)


class WorkerHello(_Message):
    """The first call on a connection: what the worker can execute, and what it executes already."""

    protocol: int = Field(ge=0, le=1_000_000)
    version: str = Field(max_length=200)
    name: RuntimeId = Field(min_length=1, max_length=200)
    instance: str = Field(min_length=1, max_length=200)
    """Id of the worker's process."""
    labels: list[str] | None = Field(default=None, max_length=100)
    """None means all labels of its key."""
    runners: list[RunnerId] = Field(max_length=1000)
    slots: int = Field(ge=1, le=10_000)
    lease_seconds: float = Field(ge=1, le=600)
    versions: dict[str, str] = {}
    providers: list[ProviderLogin] = Field(default=[], max_length=100)
    workspaces: list[str] = Field(default=[], max_length=1000)
    held: list[RunLease] = Field(default=[], max_length=10_000)


class WorkerWelcome(_Message):
    protocol: int
    version: str
    labels: list[str]
    lost: list[RunId]
    """Runs of `held` that the worker has to stop executing."""


class ClaimedRunMessage(_Message):
    """A run that the worker now holds."""

    run_id: RunId
    plugin_id: PluginId
    runner_id: RunnerId
    lease: str
    request: dict[str, Any]
    """What its runner is called with."""


class ClaimAnswer(_Message):
    run: ClaimedRunMessage | None = None
    """None if there is none to claim now."""


class ClaimCall(_Message):
    wait_seconds: float = Field(default=0, ge=0, le=60)


class Beat(_Message):
    """A heartbeat that renews leases."""

    held: list[RunLease] = Field(max_length=10_000)


class BeatAnswer(_Message):
    lost: list[RunId]


class NoticeMessage(_Message):
    """There may be runs to claim, and held runs are over."""

    queued: int = 0
    ended: list[RunId] = []


class ResultsCall(RunLease):
    """Results of a run in their order."""

    results: list[Any] = Field(max_length=10_000)


class ResultsAnswer(_Message):
    over: bool


class FinishCall(RunLease):
    """The end of a run's stream, or the failure that ended it."""

    completed: bool = False
    code: str = Field(default="", max_length=200)
    error: str = Field(default="", max_length=10_000)


class ActionCall(_Message):
    """A call to the Host by the plugin that executes a run."""

    name: str = Field(max_length=200)
    data: Any = None


def parse(model: type[Message], data: Any) -> Message:
    """Parses a message of the other side. Raises WireError that names the first wrong field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first_error["loc"]) or "data"
        raise WireError("invalid_argument", f"{field}: {first_error['msg']}") from error


def to_wire_error(refusal: CallRejected) -> WireError:
    return WireError(refusal.code, refusal.message, {"retryable": refusal.retryable, "details": refusal.details})


def from_wire_error(error: WireError) -> CallRejected:
    data = error.data if isinstance(error.data, dict) else {}
    return CallRejected(error.code, error.message, bool(data.get("retryable")), data.get("details"))

"""Declares the status of the Box that operators see, and the port that reads it."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from parlour_sdk.values import dataclass

from .policy import BoxPolicy

BoxState = Literal["disabled", "connecting", "unavailable", "ready"]


@dataclass(frozen=True, slots=True)
class BoxStatus:
    """The state of the Box, and the reason if it can't be used."""

    state: BoxState
    reason: str = ""
    remedy: str = ""
    command: str = ""
    """Command that makes the Box available on this machine, if it is known."""
    facts: Mapping[str, Any] | None = None
    """What the Box reported when it became ready."""
    refused: Sequence[Mapping[str, Any]] = ()
    """The backends that do not work, if none does."""


@dataclass(frozen=True, slots=True)
class BoxFailure:
    """A failed call to the Box."""

    at: int
    action: str
    session_id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of one check of the probe."""

    name: str
    ok: bool
    detail: str
    milliseconds: int


@dataclass(frozen=True, slots=True)
class TriedCommand:
    """What an agent would have got for a command."""

    text: str
    """The text that the model would read."""
    status: str
    is_error: bool
    is_offered: bool
    """False if the policy does not give the agent commands."""
    asks: bool
    """True if the agent's call would wait for an approval first."""
    milliseconds: int


class BoxTrials(Protocol):
    """Tries commands out."""

    async def run(self, policy: BoxPolicy, person: str, command: str) -> TriedCommand: ...


class BoxOperations(Protocol):
    """Reads the status and the sessions of the Box, and tries it out."""

    async def status(self) -> BoxStatus: ...

    def errors(self) -> list[BoxFailure]: ...

    async def sessions(self) -> list[dict[str, Any]]: ...

    async def end_session(self, session_id: str) -> bool: ...

    async def list_files(self, session: Mapping[str, Any], path: str) -> dict[str, Any]: ...

    async def probe(self) -> list[ProbeResult]: ...

"""What a plugin asked for when it created a run. It goes with the event, so that every attempt is of the same kind."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class Commission:
    plugin_id: str
    """Who created the run."""
    runner_id: str = ""
    """Named instead of an agent."""
    config: Mapping[str, Any] | None = None
    """Instead of the agent's own."""
    queue: bool = False
    """A remote runtime executes it."""
    labels: tuple[str, ...] = ()
    """What that runtime must have."""
    depth: int = 1
    """How many runs led to this one, each created by the one before."""

    def encode(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "Commission":
        return cls(**{**values, "labels": tuple(values["labels"])})

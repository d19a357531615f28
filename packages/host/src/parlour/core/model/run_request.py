"""A plugin's request to create a run. It is stored with the event, so that every attempt uses the same options."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from parlour_sdk.values import dataclass

from .ids import NO_RUNNER, PluginId, RunnerId


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Options of a run that a plugin created."""

    plugin_id: PluginId
    """The plugin that created the run."""
    runner_id: RunnerId = NO_RUNNER
    """Runner to use instead of an agent."""
    config: Mapping[str, Any] | None = None
    """Configuration that replaces the agent's own."""
    queue: bool = False
    """True if a remote worker executes the run."""
    labels: tuple[str, ...] = ()
    """Labels that the remote worker must have."""
    depth: int = 1
    """Number of runs that led to this one, each created by the run before it."""

    def encode(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "RunRequest":
        return cls(**{**values, "labels": tuple(values["labels"])})

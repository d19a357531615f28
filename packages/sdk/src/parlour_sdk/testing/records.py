"""The records that the fake Host keeps from one run to the next."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ..values import dataclass
from .gate import Handler
from .served.actions import Actions, Approvals
from .served.artifacts import Artifacts
from .served.history import Events, Transcript
from .served.state import State, Storage
from .served.vectors import Vectors


class ReadableIds:
    """Makes readable ids: run-1, run-2, event-1."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def new(self, kind: str) -> str:
        self._counts[kind] += 1
        return f"{kind}-{self._counts[kind]}"


@dataclass(frozen=True, slots=True)
class HostRecords:
    transcript: Transcript
    events: Events
    artifacts: Artifacts
    state: State
    storage: Storage
    actions: Actions
    vectors: Vectors

    @classmethod
    def from_arguments(
        cls,
        new_id: Callable[[str], str],
        state: Mapping[str, Mapping[str, Any]] | None,
        storage: Mapping[str, Mapping[str, bytes]] | None,
        artifacts: Mapping[str, bytes] | None,
        approvals: Approvals,
    ) -> "HostRecords":
        """Creates the records with the values that a test starts from."""
        stored = Artifacts(new_id)
        for artifact_id, content in (artifacts or {}).items():
            stored.store(content, artifact_id=artifact_id)
        states, values = State(state or {}), Storage(storage or {})
        return cls(Transcript(new_id), Events(), stored, states, values, Actions(approvals, new_id), Vectors())

    def handlers(self) -> dict[str, Handler]:
        groups = (
            self.transcript,
            self.events,
            self.artifacts,
            self.state,
            self.storage,
            self.actions,
            self.vectors,
        )
        return {name: handler for each in groups for name, handler in each.handlers().items()}

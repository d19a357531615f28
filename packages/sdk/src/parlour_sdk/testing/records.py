"""The records that the fake Host keeps from one run to the next."""

from collections import Counter

from ..values import dataclass
from .served.actions import Actions
from .served.artifacts import Artifacts
from .served.history import Events, Transcript
from .served.state import State


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
    actions: Actions

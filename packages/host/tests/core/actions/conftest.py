"""Fixtures of the action tests: a run session on an in-memory journal, and the counter of the permission matrix."""

from collections.abc import Callable

import pytest

from parlour.core.access.grants import Grant
from parlour.core.journal import Unit
from parlour.core.model.agent import Agent, Binding
from parlour.core.model.event import EventContext, EventEnvelope, RecordedEvent
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import QueuedEvent, RunIdentity, RunSession
from parlour.core.store import ledger
from parlour.core.store.ledger import NewRun
from parlour.core.store.state import StateScopes
from parlour.testing import MemoryJournal

RUNNER = "plugin:acme/puppet/default"


class Clock:
    def now(self) -> int:
        return 1_000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal()


@pytest.fixture
async def caller(journal: MemoryJournal) -> ActionCaller:
    """A plugin within a run that is running in the ledger."""
    envelope = EventEnvelope("event", "message.received", "api", "chat", EventContext("event"), "api")
    scopes = StateScopes({"conversation": "key-of-conversation", "actor": "key-of-actor"}, "conversation")
    grant = Grant("acme/puppet", frozenset(), RUNNER, frozenset({"state"}), scopes)
    entry = QueuedEvent(RecordedEvent(1, "conversation", 0, envelope))
    run = NewRun(
        "run", 1, "event", "agent", "agent:", RUNNER, "acme/puppet", "conversation", "", "", "", 1, "", "", 0, 0
    )
    await journal.commit(Unit("open", (ledger.insert_run(run),)))
    session = RunSession(RunIdentity("run", entry, Binding(Agent("agent", "agent", RUNNER), ""), grant))
    return ActionCaller("acme/puppet", grant, session)


class Matrix:
    """Counts the cases of the permission matrix for the summary of the test run."""

    def __init__(self, record: Callable[[str, object], None]) -> None:
        self._record = record

    def count(self) -> None:
        self._record("access_cases", 1)


@pytest.fixture
def matrix(record_property: Callable[[str, object], None]) -> Matrix:
    return Matrix(record_property)

"""Distinguishable messages, and the records that are kept of them."""

import itertools
from collections import Counter
from dataclasses import dataclass, field

from .databases import Database

WORDS = 3
"""Words per message. echo-agent streams word by word, so this is also the number of fragments."""


@dataclass(frozen=True, slots=True)
class Message:
    token: str
    text: str


@dataclass(slots=True)
class Books:
    """Records every message that was sent, and every error in the answers."""

    words: int = WORDS
    sent: list[Message] = field(default_factory=list)
    answered: int = 0
    wrong: list[str] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def next(self) -> Message:
        token = f"t{next(self._numbers):07d}"
        message = Message(token, " ".join([*("word",) * (self.words - 1), token]))
        self.sent.append(message)
        return message

    def note(self, problem: str) -> None:
        self.wrong.append(problem)

    @property
    def lost(self) -> int:
        return len(self.sent) - self.answered


async def audit(database: Database, books: Books) -> list[str]:
    """Compares the database with what was sent: each message exists once, and is answered once with its own text."""
    problems: list[str] = []
    expected = {message.text for message in books.sent}
    for role in ("user", "assistant"):
        rows = await database.rows("SELECT content FROM transcript WHERE role = ?", role)
        counts = Counter(row["content"] for row in rows if row["content"] in expected)
        missing = len(expected) - len(counts)
        doubled = sum(1 for count in counts.values() if count > 1)
        if missing or doubled:
            problems.append(f"transcript, {role}: {missing} missing, {doubled} doubled")
    pending = await database.rows("SELECT event_seq FROM inbox")
    if pending:
        problems.append(f"{len(pending)} events are still owed")
    outcomes = Counter(row["outcome"] for row in await database.rows("SELECT outcome FROM outcomes"))
    if outcomes != {"answered": len(books.sent)}:
        problems.append(f"outcomes: {dict(outcomes)} for {len(books.sent)} messages")
    return problems

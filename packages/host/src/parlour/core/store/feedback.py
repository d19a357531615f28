"""Stores the feedback of users on answers. The same feedback id again updates the feedback; type 3 withdraws it.

Feedback belongs to the run that gave the answer, which is found by the rated message.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from parlour.core.encoding import dumps
from parlour.core.journal import Insert, Journal, Row, Select, Statement, Upsert, other_than, where
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import ConversationId, RunId
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.values import dataclass

from .tables import CONVERSATIONS, FEEDBACK, OUTBOX, RUNS, TRANSCRIPT

EVENT_TYPE: Final = "feedback.received"
WITHDRAWN: Final = 3
MAX_TEXT_CHARACTERS = 10_000
"""Largest length of a text of feedback."""
MAX_REASONS = 50
"""Largest number of reasons."""
_RATING: Final = ("feedback_type", "content", "reasons", "updated_at")
_LINKS: Final = ("message_id", "stream_id", "run_id", "agent_id", "conversation_id")


@dataclass(frozen=True, slots=True)
class Rating:
    """Parsed data of a feedback event."""

    feedback_id: str
    feedback_type: int
    content: str
    reasons: tuple[str, ...]
    user_id: str
    session_id: str
    message_id: str
    stream_id: str


class FeedbackStore:
    """Builds the rows of feedback events and reads feedback."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def statements(
        self, event: EventEnvelope, conversation_id: ConversationId | None, now: int
    ) -> list[Statement]:
        """Returns the statements for the unit of a feedback event; none for other events.

        Raises ProviderFailed with the field that is not accepted.
        """
        if event.event_type != EVENT_TYPE:
            return []
        rating = _parse(event)
        return [_upsert(event, rating, await self._rated_run(event, rating.message_id, conversation_id), now)]

    async def for_run(self, run_id: RunId) -> list[Row]:
        """Returns the feedback on a run, without withdrawn feedback."""
        return await self._journal.read(Select(FEEDBACK, where(run_id=run_id, feedback_type=other_than(WITHDRAWN))))

    async def _rated_run(
        self, event: EventEnvelope, message_id: str, conversation_id: ConversationId | None
    ) -> Row | None:
        """Returns the run that gave the rated answer, if the sender of the feedback could see it."""
        if not message_id:
            return None
        for run_id in await self._candidates(event, message_id, conversation_id):
            runs = await self._journal.read(Select(RUNS, where(run_id=run_id, bot_id=event.bot_id), limit=1))
            if runs and await self._can_see(event, runs[0]["conversation_id"]):
                return runs[0]
        return None

    async def _candidates(
        self, event: EventEnvelope, message_id: str, conversation_id: ConversationId | None
    ) -> list[str]:
        """Returns ids of runs that may have sent the rated message.

        Platforms number messages per chat, so a message of the same conversation comes first. A message of another
        one counts only if it is the only message with this id.
        """
        on_platform = Select(OUTBOX, where(platform_message_id=message_id, bot_id=event.bot_id), limit=100)
        sent_rows = await self._journal.read(on_platform)
        own_rows = [row for row in sent_rows if row["conversation_id"] == conversation_id]
        outbox_rows = await self._journal.read(Select(OUTBOX, where(outbox_id=message_id), limit=1))
        transcript_rows = await self._journal.read(Select(TRANSCRIPT, where(transcript_id=message_id), limit=1))
        return [
            *_run_ids(own_rows or sent_rows[:1] * (len(sent_rows) == 1)),
            *_run_ids(outbox_rows),
            *_run_ids(transcript_rows),
            message_id,
        ]

    async def _can_see(self, event: EventEnvelope, conversation_id: ConversationId) -> bool:
        conditions = where(conversation_id=conversation_id, principal=event.principal, workspace_id=event.workspace_id)
        return bool(await self._journal.read(Select(CONVERSATIONS, conditions, ("conversation_id",), limit=1)))


def _run_ids(rows: Iterable[Row]) -> list[RunId]:
    return [row["run_id"] for row in rows if row["run_id"]]


def _upsert(event: EventEnvelope, rating: Rating, run: Row | None, now: int) -> Insert:
    is_withdrawn = rating.feedback_type == WITHDRAWN
    identity = (event.workspace_id, event.source, event.bot_id, event.principal, rating.feedback_id)
    row: dict[str, Any] = {
        "feedback_key": hashlib.sha256(dumps(identity).encode()).hexdigest(),
        "feedback_id": rating.feedback_id,
        "feedback_type": rating.feedback_type,
        "workspace_id": event.workspace_id,
        "bot_id": event.bot_id,
        "content": "" if is_withdrawn else rating.content,
        "reasons": dumps(() if is_withdrawn else rating.reasons),
        "user_id": rating.user_id or event.actor.id,
        "session_id": rating.session_id,
        "message_id": rating.message_id,
        "stream_id": rating.stream_id,
        "run_id": run["run_id"] if run else "",
        "agent_id": run["agent_id"] if run else event.agent_id,
        "conversation_id": run["conversation_id"] if run else "",
        "created_at": now,
        "updated_at": now,
    }
    # later feedback that does not name the message still refers to the same one
    updated_columns = (*_RATING, *_LINKS) if run else _RATING
    return Insert(FEEDBACK, row, conflict=Upsert(("feedback_key",), updated_columns))


def _parse(event: EventEnvelope) -> Rating:
    data = event.data
    kind = data.get("feedback_type")
    if isinstance(kind, bool) or kind not in (1, 2, WITHDRAWN):
        raise _invalid_field("feedback_type", "1 (like), 2 (dislike) or 3 (withdrawn)")
    reasons = data.get("inaccurate_reasons") or ()
    if not isinstance(reasons, list | tuple) or len(reasons) > MAX_REASONS:
        raise _invalid_field("inaccurate_reasons", f"a list of at most {MAX_REASONS} texts")
    feedback_id = _text(event, "feedback_id", 255)
    if not feedback_id:
        raise _invalid_field("feedback_id", "a text by which the same feedback is known again")
    return Rating(
        feedback_id=feedback_id,
        feedback_type=int(kind),
        content=_text(event, "feedback_content", MAX_TEXT_CHARACTERS),
        reasons=tuple(str(each)[:MAX_TEXT_CHARACTERS] for each in reasons),
        user_id=_text(event, "user_id", 255),
        session_id=_text(event, "session_id", 255),
        message_id=_text(event, "message_id", 255),
        stream_id=_text(event, "stream_id", 255),
    )


def _text(event: EventEnvelope, name: str, max_characters: int) -> str:
    value = event.data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > max_characters:
        raise _invalid_field(name, f"a text of at most {max_characters} characters")
    return value


def _invalid_field(field: str, requirement: str) -> ProviderFailed:
    return ProviderFailed("invalid_argument", f"data.{field}: it must be {requirement}")

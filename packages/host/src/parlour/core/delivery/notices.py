"""Texts and records of notices that explain a missing answer, without internals. `NoticePolicy` limits them."""

from parlour.core.journal import UnitBuilder
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.providers import POSSIBLY_CHARGED_CODES
from parlour.core.store import event_notes, outbox_rows, transcript
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, has_text, text

_MODEL_TROUBLE = {
    **dict.fromkeys(
        ("provider_failed", "provider_timeout", "provider_unreachable", *POSSIBLY_CHARGED_CODES), "model.unavailable"
    ),
    **dict.fromkeys(("key_refused", "no_credit", "secret_unreadable"), "model.key_refused"),
    **dict.fromkeys(("model_unknown", "not_found", "not_supported"), "model.misconfigured"),
    "rate_limited": "model.limited",
    "budget_exceeded": "budget_exceeded",
}
"""The notice for each failure of a model call that is not the run's own fault, by failure code."""


def notice_text(code: str, error: str = "", language: str = DEFAULT_LANGUAGE) -> str:
    """Returns the text of a notice. Codes of the Host have a translated text; a runner's own failure uses its error."""
    key = f"notice.{code}"
    if has_text(key):
        return text(key, language)
    return error or text("notice.no_reason", language)


def model_failure_notice(code: str) -> str:
    """Returns the notice code for a failed model call; empty if the failure code has no notice."""
    return _MODEL_TROUBLE.get(code, "")


def quarantine_notice(fault: str) -> str:
    """Returns the notice code for an event that is not retried any more, by the side that failed each time."""
    return "quarantined.host" if fault == "host" else "quarantined"


def add_notice(draft: UnitBuilder, transcript_id: str, event: RecordedEvent, row: OutboxRow, now: int) -> None:
    """Adds a notice to the unit: the outbox row, and a transcript item because users see it in the conversation."""
    said = row.message["content"]
    transcript.add_reply_item(draft, transcript_id, event, row.run_id, "notice", row.message, said, now)
    draft.add(outbox_rows.insert(row))
    if not row.run_id:  # a run has the notice on its own trail
        told = {"text": f"Its sender was told: {said}", event_notes.OUTBOX_IDS: [row.outbox_id]}
        draft.add(event_notes.add_note(event.seq, "notice", told, now))


def add_suppressed_notice(draft: UnitBuilder, event: RecordedEvent, silence: str, now: int) -> None:
    """Records on the event's trail why no notice was sent."""
    draft.add(event_notes.add_note(event.seq, "notice", {"text": f"Nothing was said about it: {silence}."}, now))

"""Notices to people when there is no answer: short, true, without internals. `Tact` decides whether one is due."""

from parlour.core.journal import Draft
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.providers import UNSURE
from parlour.core.store import event_notes, outbox_rows, transcript
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, has, text

_MODEL_TROUBLE = {
    **dict.fromkeys(("provider_failed", "provider_timeout", "provider_unreachable", *UNSURE), "model.unavailable"),
    **dict.fromkeys(("key_refused", "no_credit", "secret_unreadable"), "model.key_refused"),
    **dict.fromkeys(("model_unknown", "not_found", "not_supported"), "model.misconfigured"),
    "rate_limited": "model.limited",
    "budget_exceeded": "budget_exceeded",
}
"""The notice for each way in which a model call can fail for reasons that are not the run's."""


def sentence(code: str, error: str = "", language: str = DEFAULT_LANGUAGE) -> str:
    """A runner's own failure is shown in its own words; the Host's codes have a sentence."""
    key = f"notice.{code}"
    if has(key):
        return text(key, language)
    return error or text("notice.no_reason", language)


def model_trouble(code: str) -> str:
    """The notice for a failed model call, by the code of its failure; empty if the code names no such trouble."""
    return _MODEL_TROUBLE.get(code, "")


def quarantined(fault: str) -> str:
    """The notice for an event that is not tried again, by what stopped each time."""
    return "quarantined.host" if fault == "host" else "quarantined"


def say(draft: Draft, transcript_id: str, event: RecordedEvent, row: Outgoing, now: int) -> None:
    """One honest notice, in the transcript too: the conversation as its people saw it."""
    said = row.message["content"]
    transcript.add_reply_item(draft, transcript_id, event, row.run_id, "notice", row.message, said, now)
    draft.add(outbox_rows.put(row))
    if not row.run_id:  # which would have it on the trail
        told = {"text": f"Its sender was told: {said}", event_notes.OUTBOX_IDS: [row.outbox_id]}
        draft.add(event_notes.note(event.seq, "notice", told, now))


def leave_unsaid(draft: Draft, event: RecordedEvent, silence: str, now: int) -> None:
    """The trail says why there was no notice."""
    draft.add(event_notes.note(event.seq, "notice", {"text": f"Nothing was said about it: {silence}."}, now))

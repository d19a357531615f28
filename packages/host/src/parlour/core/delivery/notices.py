"""What people are told when there is no answer: short, true, without internals. Whether they are is tact's to say."""

from parlour.core.events.envelope import RecordedEvent
from parlour.core.facts import outgoing, trail, transcript
from parlour.core.facts.outgoing import Outgoing
from parlour.core.journal import Draft

_SENTENCES = {
    "interrupted": "The answer was interrupted by a restart. Please ask again.",
    "runner.timeout": "The agent took too long and was stopped.",
    "runner.no_output": "The agent ended without an answer.",
    "runner.crashed": "The agent stopped unexpectedly while it was answering. Please ask again.",
    "payload_too_large": "This message is too long for the agent. Please send less at once.",
    "runner.unavailable": "The agent is not available right now.",
    "runner.diverged": "The answer was interrupted and could not be taken up again safely. Please ask again.",
    "budget_exceeded": "The limit of what may be used here is reached for now. Please try again later.",
    "quarantined": "This message could not be answered: the agent failed on it more than once.",
    "misconfigured": "Nobody can answer here yet: the agent is not set up for this.",
    "limited": "That was a lot at once. Please wait a minute.",
    "expired": "This message waited too long and was not answered.",
    "delivery.unknown": "An answer may not have arrived: it was never confirmed. Please ask again if you miss it.",
    "delivery.refused": "There was an answer, but it was refused and can't be shown here.",
}


def sentence(code: str, error: str = "") -> str:
    """A runner's own failure speaks for itself; the Host's codes have a sentence."""
    return _SENTENCES.get(code) or error or "The agent failed and gave no reason."


def say(draft: Draft, transcript_id: str, event: RecordedEvent, row: Outgoing, now: int) -> None:
    """One honest notice, in the transcript too: the conversation as its people saw it."""
    text = row.message["content"]
    transcript.add_reply_item(draft, transcript_id, event, row.run_id, "notice", row.message, text, now)
    draft.add(outgoing.put(row))
    if not row.run_id:  # which would have it on the trail
        told = {"text": f"Its sender was told: {text}", trail.OUTBOX_IDS: [row.outbox_id]}
        draft.add(trail.note(event.seq, "notice", told, now))


def leave_unsaid(draft: Draft, event: RecordedEvent, silence: str, now: int) -> None:
    """The trail says why there was no notice."""
    draft.add(trail.note(event.seq, "notice", {"text": f"Nothing was said about it: {silence}."}, now))

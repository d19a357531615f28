"""Builds what people read about an approval: short, with what they have to write."""

from parlour.core.encoding import dumps
from parlour.core.events.envelope import EventEnvelope
from parlour.core.platforms.action_calls import Wanted
from parlour.core.texts.catalogue import text

from .approval import Approval

ARGUMENTS_CHARACTERS = 1000
COMMENT_CHARACTERS = 300
REQUESTS = ("request_received", "invited_to_group", "group_join_request")


def described(wanted: Wanted, event: EventEnvelope, language: str) -> str:
    """Describes the action with its arguments, and the event that it answers, as far as a message holds them."""
    told = "; ".join(dumps(call["arguments"]) for call in wanted.calls)
    beyond = len(told) - ARGUMENTS_CHARACTERS
    cut = text("approval.cut", language, beyond=beyond) if beyond > 0 else ""
    where = text("approval.elsewhere", language) if wanted.elsewhere else ""
    return f"{wanted.name}{where} {told[:ARGUMENTS_CHARACTERS]}{cut}{_occasion(event, language)}"


def _occasion(event: EventEnvelope, language: str) -> str:
    """Builds a line that says who is behind the action: name and id, the group, and what a request said."""
    who = _called(event.actor.name, event.actor.id)
    if not who:
        return ""
    group = event.data.get("group")
    group = group if isinstance(group, dict) else {"id": event.data.get("group_id")}
    place = _called(group.get("name"), group.get("id"))
    kind = event.event_type.rpartition(".")[2]
    if kind not in REQUESTS:
        kind = "asked_in_group" if place else "asked"
    line = text(f"approval.occasion.{kind}", language, who=who, group=place)
    comment = event.data.get("message", event.data.get("comment")) if event.data.get("request_id") else None
    return f"\n{line}" + (f": “{_one_line(comment)}”" if isinstance(comment, str) and comment.strip() else "")


def _called(name: object, entity_id: object) -> str:
    known = str(entity_id) if isinstance(entity_id, str | int) and entity_id else ""
    if isinstance(name, str) and name:
        return f"{_one_line(name)} ({known})" if known else _one_line(name)
    return known


def _one_line(written: str) -> str:
    """Keeps what a stranger wrote from looking like lines of the Host's own."""
    line = " ".join(written.split()).replace("“", '"').replace("”", '"')
    return line if len(line) <= COMMENT_CHARACTERS else f"{line[:COMMENT_CHARACTERS]}…"


def question(asked: Approval, now: int, language: str) -> str:
    time = _time(asked.expires_at - now, language)
    return text("approval.question", language, what=asked.words, keyword=asked.keyword, time=time)


def _time(milliseconds: int, language: str) -> str:
    """Rounded down, so that it is never more than there is."""
    seconds = milliseconds // 1000
    number, unit = (seconds // 60, "minute") if seconds >= 60 else (seconds, "second")
    return text(f"approval.time.{unit}{'' if number == 1 else 's'}", language, number=number)


def concluded(closed: Approval, by: str, language: str) -> str:
    """Takes the place of the question once it is decided or expired."""
    reason = f" {closed.reason}" if closed.reason and _status(closed) != "expired" else ""
    return text(f"approval.concluded.{_status(closed)}", language, what=closed.words, by=by) + reason


def verdict(closed: Approval, language: str) -> str:
    return text(f"approval.verdict.{_status(closed)}", language, keyword=closed.keyword)


def _status(closed: Approval) -> str:
    return closed.status if closed.status in ("approved", "denied") else "expired"

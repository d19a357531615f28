"""What people read about an approval: short, with what they have to write."""

from parlour.core.encoding import dumps
from parlour.core.events.envelope import EventEnvelope
from parlour.core.platforms.action_calls import Wanted

from .approval import Approval

ARGUMENTS_CHARACTERS = 1000
COMMENT_CHARACTERS = 300


def described(wanted: Wanted, event: EventEnvelope) -> str:
    """Describes the action with its arguments, and the event that it answers, as far as a message holds them."""
    told = "; ".join(dumps(call["arguments"]) for call in wanted.calls)
    beyond = len(told) - ARGUMENTS_CHARACTERS
    cut = f"… ({beyond} more characters, which are on the page of approvals)" if beyond > 0 else ""
    where = " in another chat" if wanted.elsewhere else ""
    return f"{wanted.name}{where} {told[:ARGUMENTS_CHARACTERS]}{cut}{_occasion(event)}"


def _occasion(event: EventEnvelope) -> str:
    """Builds a line that says who is behind the action: name and id, the group, and what a request said."""
    who = _called(event.actor.name, event.actor.id)
    if not who:
        return ""
    group = event.data.get("group")
    group = group if isinstance(group, dict) else {"id": event.data.get("group_id")}
    place = _called(group.get("name"), group.get("id"))
    match event.event_type.rpartition(".")[2]:
        case "request_received":
            line = f"Friend request from {who}"
        case "invited_to_group":
            line = f"Invitation to the group {place} from {who}"
        case "group_join_request":
            line = f"Request of {who} to join the group {place}"
        case _:
            line = f"Asked by {who}" + (f" in the group {place}" if place else "")
    comment = event.data.get("message", event.data.get("comment")) if event.data.get("request_id") else None
    return f"\n{line}" + (f": “{_one_line(comment)}”" if isinstance(comment, str) and comment.strip() else "")


def _called(name: object, entity_id: object) -> str:
    known = str(entity_id) if isinstance(entity_id, str | int) and entity_id else ""
    if isinstance(name, str) and name:
        return f"{_one_line(name)} ({known})" if known else _one_line(name)
    return known


def _one_line(text: str) -> str:
    """Keeps what a stranger wrote from looking like lines of the Host's own."""
    line = " ".join(text.split()).replace("“", '"').replace("”", '"')
    return line if len(line) <= COMMENT_CHARACTERS else f"{line[:COMMENT_CHARACTERS]}…"


def question(asked: Approval, now: int) -> str:
    keyword = asked.keyword
    how = f"Write 'approve {keyword}' or 'deny {keyword}' within {_time(asked.expires_at - now)}."
    return f"This needs to be allowed: {asked.words}\n{how}"


def _time(milliseconds: int) -> str:
    """Never more than there is."""
    seconds = milliseconds // 1000
    number, unit = (seconds // 60, "minute") if seconds >= 60 else (seconds, "second")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def concluded(closed: Approval, by: str) -> str:
    """What stands in the place of the question."""
    match closed.status:
        case "approved" | "denied":
            return f"{closed.words}\n{closed.status.capitalize()} by {by}." + (closed.reason and f" {closed.reason}")
        case _:
            return f"{closed.words}\nNobody decided in time, so it was not done."


def verdict(closed: Approval) -> str:
    match closed.status:
        case "approved":
            return f"{closed.keyword} was approved."
        case "denied":
            return f"{closed.keyword} was denied."
        case _:
            return f"Nobody decided about {closed.keyword} in time, so it was not done."

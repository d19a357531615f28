"""What people read about an approval: short, with what they have to write."""

from parlour.core.encoding import dumps
from parlour.core.platforms.action_calls import Wanted

from .approval import Approval

ARGUMENTS_CHARACTERS = 1000


def described(wanted: Wanted) -> str:
    """The action and what it is about, as far as a message holds it. Nobody is to allow unaware what is not shown."""
    told = "; ".join(dumps(call["arguments"]) for call in wanted.calls)
    beyond = len(told) - ARGUMENTS_CHARACTERS
    cut = f"… ({beyond} more characters, which are on the page of approvals)" if beyond > 0 else ""
    where = " in another chat" if wanted.elsewhere else ""
    return f"{wanted.name}{where} {told[:ARGUMENTS_CHARACTERS]}{cut}"


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

"""Builds what people read about an approval: short, with what they have to write."""

from parlour.core.encoding import dumps
from parlour.core.platforms.action_calls import Wanted
from parlour.core.texts.catalogue import text

from .approval import Approval

ARGUMENTS_CHARACTERS = 1000


def described(wanted: Wanted, language: str) -> str:
    """The action and its arguments, as far as a message holds them; says how much is left out."""
    told = "; ".join(dumps(call["arguments"]) for call in wanted.calls)
    beyond = len(told) - ARGUMENTS_CHARACTERS
    cut = text("approval.cut", language, beyond=beyond) if beyond > 0 else ""
    where = text("approval.elsewhere", language) if wanted.elsewhere else ""
    return f"{wanted.name}{where} {told[:ARGUMENTS_CHARACTERS]}{cut}"


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

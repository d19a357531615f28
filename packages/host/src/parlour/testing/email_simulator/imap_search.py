"""Evaluates the criteria of IMAP's SEARCH on the mails of a simulated folder."""

from collections.abc import Callable
from datetime import UTC, datetime

from .world import SimulatedFolder, StoredMail

Test = Callable[[StoredMail], bool]


class BadSearch(Exception):
    """Raised for criteria that are no SEARCH."""


def search(folder: SimulatedFolder, words: list[str]) -> list[int]:
    remaining = list(words)
    tests = []
    while remaining:
        tests.append(_criterion(folder, remaining))
    if not tests:
        raise BadSearch
    return [mail.uid for mail in folder.mails if all(test(mail) for test in tests)]


def uid_set(folder: SimulatedFolder, text: str) -> set[int]:
    """Returns the UIDs of a set such as `3,7:*`; the last mail belongs to every range that ends with an asterisk."""
    last = folder.mails[-1].uid if folder.mails else 0
    found: set[int] = set()
    for part in text.split(","):
        first, colon, end = part.partition(":")
        numbers = [last if each == "*" else int(each) if each.isdecimal() else -1 for each in (first, end or first)]
        if -1 in numbers or (colon and not end) or not first:
            raise BadSearch
        found |= {mail.uid for mail in folder.mails if min(numbers) <= mail.uid <= max(numbers)}
    return found


def _criterion(folder: SimulatedFolder, words: list[str]) -> Test:
    try:
        return _read(folder, words.pop(0).upper(), words)
    except (IndexError, ValueError):
        raise BadSearch from None


def _read(folder: SimulatedFolder, name: str, words: list[str]) -> Test:
    match name:
        case "ALL":
            return lambda mail: True
        case "UNSEEN":
            return lambda mail: "\\Seen" not in mail.flags
        case "UID":
            wanted = uid_set(folder, words.pop(0))
            return lambda mail: mail.uid in wanted
        case "SINCE":
            day = datetime.strptime(words.pop(0), "%d-%b-%Y").replace(tzinfo=UTC).timestamp()
            return lambda mail: mail.received_at >= day
        case "FROM" | "SUBJECT" | "TO":
            text = words.pop(0).lower()
            return lambda mail: text in str(mail.message.get(name) or "").lower()
        case "HEADER":
            field, content = words.pop(0), words.pop(0).lower()
            return lambda mail: any(content in str(each).lower() for each in mail.message.get_all(field, []))
        case "OR":
            first, second = _criterion(folder, words), _criterion(folder, words)
            return lambda mail: first(mail) or second(mail)
        case "NOT":
            inner = _criterion(folder, words)
            return lambda mail: not inner(mail)
    raise BadSearch

"""Describes content that only Telegram has as text: places, contacts, polls, dice, games, invoices, checklists."""

from typing import Any

from .values import Payload, number, object_in, text

MAX_FACT_CHARACTERS = 500
MAX_OPTIONS = 20


def describe(kind: str, data: Payload) -> str:
    """Builds one line such as `[poll: Where to?; options: Rome / Oslo]`."""
    facts = [fact for fact in _facts(kind, data) if fact]
    return f"[{kind}: {'; '.join(facts)}]" if facts else f"[{kind}]"


def _facts(kind: str, data: Payload) -> list[str]:
    match kind:
        case "dice":
            return [" ".join(filter(None, (_line(data, "emoji"), _digits(data.get("value")))))]
        case "location":
            return [_coordinates(data)]
        case "venue":
            return [_line(data, "title"), _line(data, "address"), _coordinates(object_in(data, "location"))]
        case "contact":
            name = " ".join(filter(None, (_line(data, "first_name"), _line(data, "last_name"))))
            return [name, _line(data, "phone_number")]
        case "poll":
            return [_line(data, "question"), _options("options", data.get("options"))]
        case "checklist":
            return [_line(data, "title"), _options("tasks", data.get("tasks"))]
        case "game":
            return [_line(data, "title"), _line(data, "description")]
        case "invoice":
            return [_line(data, "title"), _line(data, "description"), _price(data)]
        case "story":
            return [_line(object_in(data, "chat"), "title") or _line(object_in(data, "chat"), "username")]
        case "giveaway":
            return [_line(data, "prize_description")]
    return []


def _line(data: Payload, name: str) -> str:
    return " ".join((text(data, name) or "")[:MAX_FACT_CHARACTERS].split())


def _options(label: str, options: Any) -> str:
    known = [_line(each, "text") for each in options if isinstance(each, dict)] if isinstance(options, list) else []
    told = [each for each in known if each]
    more = " / ..." if len(told) > MAX_OPTIONS else ""
    return f"{label}: {' / '.join(told[:MAX_OPTIONS])}{more}" if told else ""


def _coordinates(place: Payload) -> str:
    values = (place.get("latitude"), place.get("longitude"))
    known = [str(each) for each in values if _is_number(each)]
    return ", ".join(known) if len(known) == 2 else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _digits(value: Any) -> str:
    return "" if number(value) is None else str(value)


def _price(data: Payload) -> str:
    """Formats a price. Telegram gives amounts in the smallest unit of the currency."""
    amount = number(data.get("total_amount"))
    return f"{amount} {_line(data, 'currency')} (smallest units)" if amount is not None else ""

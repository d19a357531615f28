"""Describes segments without a common component as text: cards, links, locations, contacts, dice.

The text is for users and models; plugins also receive the data of the segment.
"""

import html
import json
import re
from typing import Any

from .values import text

MAX_CARD_CHARACTERS = 64 * 1024
"""Maximum number of characters of a card that are parsed."""
MAX_FACT_CHARACTERS = 500
TITLES = ("title", "name", "nickname")
DETAILS = ("desc", "summary", "address", "contact")
LINKS = ("jumpUrl", "qqdocurl", "url")
COORDINATES = (("lat", "lng"), ("lat", "lon"))
_XML_TEXT = {name: re.compile(rf"<{name}\b[^>]*>([^<]{{1,500}})</{name}>") for name in ("title", "summary")}
_XML_ATTRIBUTE = {name: re.compile(rf'\b{name}="([^"]{{1,1000}})"') for name in ("brief", "url")}
Data = dict[str, Any]


def describe(kind: str, data: Data) -> str | None:
    """Returns a description of the segment, or None if it has nothing that can be shown as text."""
    match kind:
        case "json":
            return _json_card(data.get("data"))
        case "xml":
            return _xml_card(data.get("data"))
        case "share":
            return _listed("link", *_values(data, "title", "content", "url"))
        case "location":
            return _listed("location", *_values(data, "title", "content"), _coordinates(data))
        case "contact":
            return _listed("contact", " ".join(_values(data, "type", "id")))
        case "music":
            return _listed("music", *_values(data, "title", "content", "url")) or _listed("music", *_values(data, "id"))
        case "dice":
            return _listed("dice", *_values(data, "result"))
        case "rps":
            return _listed("rock-paper-scissors", *_values(data, "result"))
        case "poke":
            return _listed("poke", *_values(data, "name"))
        case "mface" | "marketface":
            return _listed("sticker", sticker_name(data))
        case "markdown":
            return text(data, "content")
    return None


def sticker_name(data: Data) -> str:
    """Returns the sticker's caption, which implementations send in brackets."""
    return (text(data, "summary") or "").strip("[]")


def _json_card(card: Any) -> str | None:
    """Describes the card of a mini app: its prompt, or title, description and link of its content."""
    if isinstance(card, str):
        if len(card) > MAX_CARD_CHARACTERS:
            return None
        card = json.loads(card)
    if not isinstance(card, dict):
        return None
    views = card.get("meta")
    shown = [each for each in views.values() if isinstance(each, dict)] if isinstance(views, dict) else []
    facts = [fact for view in shown[:3] for fact in _view_facts(view)]
    return _listed("card", *(facts or _values(card, "prompt", "desc")))


def _view_facts(view: Data) -> list[str]:
    facts = [next(iter(_values(view, *names)), "") for names in (TITLES, DETAILS, LINKS)]
    return [each for each in (*facts[:2], _coordinates(view), facts[2]) if each]


def _xml_card(card: Any) -> str | None:
    if not isinstance(card, str) or len(card) > MAX_CARD_CHARACTERS:
        return None
    found = [_XML_TEXT["title"].search(card), _XML_TEXT["summary"].search(card), _XML_ATTRIBUTE["url"].search(card)]
    if not any(found[:2]):
        found[0] = _XML_ATTRIBUTE["brief"].search(card)
    return _listed("card", *(html.unescape(each[1]) for each in found if each))


def _coordinates(data: Data) -> str:
    for names in COORDINATES:
        values = _values(data, *names)
        if len(values) == 2:
            return ", ".join(values)
    return ""


def _values(data: Data, *names: str) -> list[str]:
    values = (data.get(name) for name in names)
    known = (each for each in values if isinstance(each, str | int | float) and not isinstance(each, bool))
    return [told for each in known if (told := " ".join(str(each)[:MAX_FACT_CHARACTERS].split()))]


def _listed(kind: str, *facts: str) -> str | None:
    told = [fact for fact in dict.fromkeys(facts) if fact]
    return f"[{kind}: {'; '.join(told)}]" if told else None

"""Writes and reads CQ strings as a OneBot implementation does."""

from typing import Any

_ESCAPES = (("&", "&amp;"), ("[", "&#91;"), ("]", "&#93;"))


def written(segments: list[dict[str, Any]]) -> str:
    return "".join(_one(each["type"], each["data"]) for each in segments)


def _one(kind: str, data: dict[str, Any]) -> str:
    if kind == "text":
        return _escaped(str(data["text"]))
    pairs = [f"{name}={_escaped(str(value)).replace(',', '&#44;')}" for name, value in data.items()]
    return "[CQ:" + ",".join([kind, *pairs]) + "]"


def understood(text: str) -> list[dict[str, Any]]:
    segments: list[dict[str, Any]] = []
    while text:
        leading, code, remaining = text.partition("[CQ:")
        if leading:
            segments.append({"type": "text", "data": {"text": _meant(leading)}})
        inside, _, text = remaining.partition("]")
        if code:
            kind, *pairs = inside.split(",")
            fields = (pair.partition("=") for pair in pairs)
            segments.append({"type": kind, "data": {name: _meant(value) for name, _, value in fields}})
    return segments


def _escaped(text: str) -> str:
    for character, written_so in _ESCAPES:
        text = text.replace(character, written_so)
    return text


def _meant(text: str) -> str:
    text = text.replace("&#44;", ",")
    for character, written_so in reversed(_ESCAPES):
        text = text.replace(written_so, character)
    return text

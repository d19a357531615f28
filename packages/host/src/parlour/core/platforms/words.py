"""A message chain as an agent's input: readable text, and the elements in their order where there is more than text."""

from collections.abc import Sequence
from typing import Any

from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    Image,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Source,
    Unknown,
    Video,
    Voice,
)

KINDS: dict[type[Media], str] = {Image: "image", Voice: "audio", Video: "video", File: "file"}


def said(chain: MessageChain, self_id: str) -> dict[str, Any]:
    """The text alone where there is nothing else. Whom the bot's own mention addresses is clear, so it is no text."""
    if len(chain) == 1 and isinstance(chain[0], Plain):
        return {"text": chain[0].text}
    told = [each for each in chain if not isinstance(each, Source)]
    text = "".join(_text(each, self_id) for each in told)
    if _mentioned(told, self_id):
        text = text.lstrip()
    if all(isinstance(each, Plain) for each in told):
        return {"text": text}
    return {"text": text, "contents": [_element(each) for each in told]}


def mentions(chain: MessageChain, self_id: str) -> bool:
    return bool(self_id) and _mentioned(chain, self_id)


def kept(chain: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is recorded of a chain: paths stay with the adapter, and what is quoted brings no files."""
    return [_kept(each, nested=False) for each in chain]


def _kept(component: dict[str, Any], nested: bool) -> dict[str, Any]:
    match component["type"]:
        case "Quote":
            return {**component, "origin": [_kept(each, True) for each in component.get("origin", ())]}
        case "Forward":
            nodes = [{**node, "chain": [_kept(each, True) for each in node["chain"]]} for node in component["nodes"]]
            return {**component, "nodes": nodes}
        case "Image" | "Voice" | "File" | "Video" if "path" in component or (nested and "base64" in component):
            return {"type": "Unknown", "text": _label(component["type"].lower(), component.get("name"))}
    return component


def _mentioned(chain: Sequence[Component], self_id: str) -> bool:
    return any(isinstance(each, At) and each.target == self_id for each in chain)


def _text(component: Component, self_id: str) -> str:
    match component:
        case Plain() | Unknown():
            return component.text
        case At():
            return "" if component.target == self_id else f"@{component.display or component.target}"
        case AtAll():
            return "@all"
        case Face():
            return f"[{component.name or f'face {component.id}'}]"
        case Forward():
            return "\n".join(f"{node.name or node.sender or '?'}: {_joined(node.chain)}" for node in component.nodes)
    return ""


def _joined(chain: MessageChain) -> str:
    return "".join(_text(each, "") for each in chain)


def _element(component: Component) -> dict[str, Any]:
    match component:
        case At():
            name = {"name": component.display} if component.display else {}
            return {"type": "mention", "user_id": component.target, **name}
        case AtAll():
            return {"type": "mention", "user_id": "all", "everyone": True}
        case Quote():
            return {"type": "quote", **_present(message_id=component.id, sender=component.sender)} | {
                "contents": [_quoted(each) for each in component.origin if not isinstance(each, Source)]
            }
        case Image() | Voice() | Video() | File():
            return _media(component)
        case Platform():
            return {"type": "json", "value": component.model_dump(exclude={"type"})}
    return {"type": "text", "text": _text(component, "")}


def _quoted(component: Component) -> dict[str, Any]:
    element = _element(component)
    if "content_base64" not in element:
        return element
    return {"type": "text", "text": _label(element["type"], element.get("name"))}


def _media(component: Media) -> dict[str, Any]:
    kind = KINDS[type(component)]
    place = _present(url=component.url, content_base64=component.base64, artifact_id=component.artifact_id)
    if not place:
        return {"type": "text", "text": _label(kind, component.name)}
    known = _present(name=component.name, mime_type=component.mime_type, size_bytes=component.size)
    return {"type": kind, **place, **known}


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _label(kind: str, name: str | None) -> str:
    return f"[{kind}: {name}]" if name else f"[{kind}]"

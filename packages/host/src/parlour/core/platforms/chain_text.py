"""Converts a message chain to an agent's input: readable text, and the elements in order if there is more than text."""

from collections.abc import Iterator, Sequence
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

MEDIA_KINDS: dict[type[Media], str] = {Image: "image", Voice: "audio", Video: "video", File: "file"}
MAX_FORWARDED_FILES = 20
"""Maximum number of files of a merged forward that go to the agent; the text names the others."""


def chain_to_input(chain: MessageChain, self_id: str) -> dict[str, Any]:
    """Returns the input for an agent, only text if there is nothing else. A mention of the bot itself is left out of
    the text.
    """
    if len(chain) == 1 and isinstance(chain[0], Plain):
        return {"text": chain[0].text}
    components = [each for each in chain if not isinstance(each, Source)]
    text = "".join(_text(each, self_id) for each in components)
    if _mentions(components, self_id):
        text = text.lstrip()
    if all(isinstance(each, Plain) for each in components):
        return {"text": text}
    return {"text": text, "contents": [element for each in components for element in _elements(each)]}


def chain_mentions(chain: MessageChain, self_id: str) -> bool:
    return bool(self_id) and _mentions(chain, self_id)


def chain_for_storage(chain: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the chain as it is recorded: without local paths, and without file contents in quoted messages."""
    return [_component_for_storage(each, is_quoted=False) for each in chain]


def _component_for_storage(component: dict[str, Any], is_quoted: bool) -> dict[str, Any]:
    match component["type"]:
        case "Quote":
            return {**component, "origin": [_component_for_storage(each, True) for each in component.get("origin", ())]}
        case "Forward":
            nodes = [
                {**node, "chain": [_component_for_storage(each, is_quoted) for each in node["chain"]]}
                for node in component["nodes"]
            ]
            return {**component, "nodes": nodes}
        case "Image" | "Voice" | "File" | "Video" if "path" in component or (is_quoted and "base64" in component):
            return {"type": "Unknown", "text": _label(component["type"].lower(), component.get("name"))}
    return component


def _mentions(chain: Sequence[Component], self_id: str) -> bool:
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
            return "\n".join(
                f"{node.name or node.sender or '?'}: {_chain_text(node.chain)}" for node in component.nodes
            )
        case Platform():
            return component.text if component.text is not None else f"[{component.component_type}]"
    return ""


def _chain_text(chain: MessageChain) -> str:
    return "".join(_inner_text(each) for each in chain)


def _inner_text(component: Component) -> str:
    """Describes a component of a forwarded message; its files and quotes get a place in the text."""
    match component:
        case Image() | Voice() | Video() | File():
            return _label(MEDIA_KINDS[type(component)], component.name)
        case Quote():
            author = component.name or component.sender
            return f"[quote{f' of {author}' if author else ''}: {_chain_text(component.origin)}] "
    return _text(component, "")


def _elements(component: Component) -> list[dict[str, Any]]:
    """Converts one component; a merged forward becomes its text and the first of its files."""
    if not isinstance(component, Forward):
        return [_element(component)]
    files = [_media(each) for each in _files_in(component)]
    media_elements = [each for each in files if each["type"] != "text"]
    return [_element(component), *media_elements[:MAX_FORWARDED_FILES]]


def _files_in(forward: Forward) -> Iterator[Media]:
    for node in forward.nodes:
        for component in node.chain:
            match component:
                case Image() | Voice() | Video() | File():
                    yield component
                case Forward():
                    yield from _files_in(component)


def _element(component: Component) -> dict[str, Any]:
    match component:
        case At():
            name = {"name": component.display} if component.display else {}
            return {"type": "mention", "user_id": component.target, **name}
        case AtAll():
            return {"type": "mention", "user_id": "all", "everyone": True}
        case Quote():
            fields = _present(message_id=component.id, sender=component.sender, name=component.name)
            origin = [each for each in component.origin if not isinstance(each, Source)]
            return {
                "type": "quote",
                **fields,
                "contents": [element for each in origin for element in _quoted_elements(each)],
            }
        case Image() | Voice() | Video() | File():
            return _media(component)
    return {"type": "text", "text": _text(component, "")}


def _quoted_elements(component: Component) -> list[dict[str, Any]]:
    """Converts a component of a quoted message, leaving out file contents."""
    elements = _elements(component)
    if isinstance(component, Forward):
        return [element for element in elements if "content_base64" not in element]
    return [
        {"type": "text", "text": _label(each["type"], each.get("name"))} if "content_base64" in each else each
        for each in elements
    ]


def _media(component: Media) -> dict[str, Any]:
    kind = MEDIA_KINDS[type(component)]
    location = _present(url=component.url, content_base64=component.base64, artifact_id=component.artifact_id)
    if not location:
        return {"type": "text", "text": _label(kind, component.name)}
    details = _present(name=component.name, mime_type=component.mime_type, size_bytes=component.size)
    return {"type": kind, **location, **details}


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _label(kind: str, name: str | None) -> str:
    return f"[{kind}: {name}]" if name else f"[{kind}]"

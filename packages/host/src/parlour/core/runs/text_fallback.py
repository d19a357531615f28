"""Converts an input for a runner that accepts only text: each media element becomes a note with a reference."""

from collections.abc import Mapping
from typing import Any

from parlour.core.store.event_attachments import MEDIA_TYPES


def to_text_only(input_data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the input with notes instead of media, or the input itself if it has none. References stay in the
    attachments.
    """
    contents = input_data.get("contents") or ()
    if not any(_has_media(element) for element in contents):
        return input_data
    text_contents = [_to_text(element) for element in contents]
    text = input_data.get("text")
    if text is None:  # a runner that reads only this field must not find an empty message
        text = "\n".join(element["text"] for element in text_contents if element.get("type") == "text")
    return {**input_data, "text": text, "contents": text_contents}


def _has_media(element: Mapping[str, Any]) -> bool:
    if element.get("type") == "quote":
        return any(_has_media(each) for each in element.get("contents", ()))
    return element.get("type") in MEDIA_TYPES


def _to_text(element: Mapping[str, Any]) -> dict[str, Any]:
    if element.get("type") == "quote":
        return {**element, "contents": [_to_text(each) for each in element.get("contents", ())]}
    if element.get("type") not in MEDIA_TYPES:
        return dict(element)
    return {"type": "text", "text": media_note(element)}


def media_note(element: Mapping[str, Any]) -> str:
    """Returns a note such as `[image: cat.png, image/png, 2048 bytes, artifact 0190...]`, with the facts that are
    known.
    """
    size = element.get("size_bytes")
    details = (
        element.get("name"),
        element.get("mime_type"),
        None if size is None else f"{size} bytes",
        f"artifact {element['artifact_id']}" if "artifact_id" in element else element.get("url"),
    )
    return f"[{element['type']}: {', '.join(str(detail) for detail in details if detail)}]"

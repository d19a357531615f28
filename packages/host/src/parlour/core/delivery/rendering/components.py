"""Builds the components of a chain besides text: pictures, audio, video, files, and the buttons of an approval.

What the platform can't show becomes text.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from parlour.core.platforms.manifest import AdapterManifest

APPROVAL_ACTION_ID = "approval"
"""The action id by which a button press is recognized as a decision."""
_KINDS = {"image": "Image", "audio": "Voice", "voice": "Voice", "video": "Video"}


def media_component(medium: Mapping[str, Any], manifest: AdapterManifest) -> dict[str, Any] | None:
    """Returns the component for a file; None if this platform can't show it."""
    size = medium.get("size_bytes")
    if size is not None and size > manifest.limits.file_bytes:
        return None
    kind = next((each for each in (_kind(medium), "File") if each in manifest.components.send), None)
    source = _source(medium)
    if kind is None or not source:
        return None
    about = {"name": medium.get("name"), "size": size, "mime_type": medium.get("mime_type")}
    return {"type": kind, **source, **{name: value for name, value in about.items() if value is not None}}


def media_fallback_text(medium: Mapping[str, Any], manifest: AdapterManifest, begun: bool) -> str:
    """Returns the text that replaces a file which can't be shown, with the reason and its web address."""
    name = medium.get("name") or _kind(medium).lower()
    size, most = medium.get("size_bytes"), manifest.limits.file_bytes
    reason = "is too large to be sent here" if size is not None and size > most else "can't be shown here"
    address = f" {medium['url']}" if is_web_address(medium.get("url")) else ""
    return ("\n" if begun else "") + f"[{name} {reason}]{address}\n"


def without_missing_file(chain: Iterable[Mapping[str, Any]], artifact_id: str) -> list[dict[str, Any]] | None:
    """Replaces an unavailable file by a text; None if the chain does not contain it."""
    components = [dict(each) for each in chain]
    at = next((at for at, each in enumerate(components) if each.get("artifact_id") == artifact_id), None)
    if at is None:
        return None
    gone = components[at]
    words = f"[{gone.get('name') or gone['type'].lower()} can't be shown here]"
    components[at] = {"type": "Plain", "text": f"\n{words}" if at else words}
    return components


def approval_buttons(message: Mapping[str, Any], manifest: AdapterManifest) -> list[dict[str, Any]]:
    """Returns the button component below the prompt of a pending approval; an empty list if there is nothing to decide.

    The value of a button is the text that a user could write instead.
    """
    about = message.get("approval") or {}
    if not manifest.buttons or about.get("status") != "pending":
        return []
    keyword = about["keyword"]
    labels = {f"approve {keyword}": "Approve", f"deny {keyword}": "Deny"}
    pressed = [{"label": label, "action_id": APPROVAL_ACTION_ID, "value": words} for words, label in labels.items()]
    data = {"buttons": pressed}
    return [{"type": "Platform", "platform": manifest.name, "component_type": "buttons", "data": data}]


def _kind(medium: Mapping[str, Any]) -> str:
    family = str(medium.get("mime_type") or "").partition("/")[0]
    named = str(medium.get("artifact_type") or medium.get("type") or "")
    return _KINDS.get(named) or _KINDS.get(family) or "File"


def is_web_address(address: object) -> bool:
    """Returns whether this is an HTTP address. Any other scheme could point to the machine that opens it."""
    return isinstance(address, str) and address.lower().startswith(("http://", "https://"))


def _source(medium: Mapping[str, Any]) -> dict[str, str]:
    for field, name in (("artifact_id", "artifact_id"), ("url", "url"), ("content_base64", "base64")):
        if medium.get(field) and (field != "url" or is_web_address(medium[field])):
            return {name: str(medium[field])}
    return {}

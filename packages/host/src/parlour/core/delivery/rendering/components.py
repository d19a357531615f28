"""Builds the components of a chain besides text: pictures, audio, video, files, and the buttons of an approval.

What the platform can't show becomes text.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from parlour.core.model.ids import ArtifactId
from parlour.core.platforms.manifest import AdapterManifest

APPROVAL_ACTION_ID = "approval"
"""The action id by which a button press is recognized as a decision."""
_KINDS = {"image": "Image", "audio": "Voice", "voice": "Voice", "video": "Video"}


def media_component(media: Mapping[str, Any], manifest: AdapterManifest) -> dict[str, Any] | None:
    """Returns the component for a file; None if this platform can't show it."""
    size = media.get("size_bytes")
    if size is not None and size > manifest.limits.file_bytes:
        return None
    kind = next((each for each in (_kind(media), "File") if each in manifest.components.send), None)
    source = _source(media)
    if kind is None or not source:
        return None
    details = {"name": media.get("name"), "size": size, "mime_type": media.get("mime_type")}
    return {"type": kind, **source, **{name: value for name, value in details.items() if value is not None}}


def media_fallback_text(media: Mapping[str, Any], manifest: AdapterManifest, has_text: bool) -> str:
    """Returns the text that replaces a file which can't be shown, with the reason and its web address."""
    name = media.get("name") or _kind(media).lower()
    size, max_size = media.get("size_bytes"), manifest.limits.file_bytes
    reason = "is too large to be sent here" if size is not None and size > max_size else "can't be shown here"
    address = f" {media['url']}" if is_web_address(media.get("url")) else ""
    return ("\n" if has_text else "") + f"[{name} {reason}]{address}\n"


def without_missing_file(chain: Iterable[Mapping[str, Any]], artifact_id: ArtifactId) -> list[dict[str, Any]] | None:
    """Replaces an unavailable file by a text; None if the chain does not contain it."""
    components = [dict(each) for each in chain]
    index = next((index for index, each in enumerate(components) if each.get("artifact_id") == artifact_id), None)
    if index is None:
        return None
    missing = components[index]
    note = f"[{missing.get('name') or missing['type'].lower()} can't be shown here]"
    components[index] = {"type": "Plain", "text": f"\n{note}" if index else note}
    return components


def approval_buttons(message: Mapping[str, Any], manifest: AdapterManifest) -> list[dict[str, Any]]:
    """Returns the button component below the prompt of a pending approval; an empty list if there is nothing to decide.

    The value of a button is the text that a user could write instead.
    """
    approval = message.get("approval") or {}
    if not manifest.buttons or approval.get("status") != "pending":
        return []
    keyword = approval["keyword"]
    always = {f"always {keyword}": "Always"} if approval.get("always") else {}
    labels = {f"approve {keyword}": "Approve", **always, f"deny {keyword}": "Deny"}
    buttons = [{"label": label, "action_id": APPROVAL_ACTION_ID, "value": command} for command, label in labels.items()]
    data = {"buttons": buttons}
    return [{"type": "Platform", "platform": manifest.name, "component_type": "buttons", "data": data}]


def _kind(media: Mapping[str, Any]) -> str:
    media_type = str(media.get("mime_type") or "").partition("/")[0]
    declared_type = str(media.get("artifact_type") or media.get("type") or "")
    return _KINDS.get(declared_type) or _KINDS.get(media_type) or "File"


def is_web_address(address: object) -> bool:
    """Returns whether this is an HTTP address. Any other scheme could point to the machine that opens it."""
    return isinstance(address, str) and address.lower().startswith(("http://", "https://"))


def _source(media: Mapping[str, Any]) -> dict[str, str]:
    for field, name in (("artifact_id", "artifact_id"), ("url", "url"), ("content_base64", "base64")):
        if media.get(field) and (field != "url" or is_web_address(media[field])):
            return {name: str(media[field])}
    return {}

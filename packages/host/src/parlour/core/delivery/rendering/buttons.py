"""Buttons below an approval prompt, on platforms that have buttons. Their value is the text that a user could write."""

from collections.abc import Mapping
from typing import Any

from parlour.core.platforms.manifest import AdapterManifest

APPROVAL_ACTION_ID = "approval"
"""The action id by which a button press is recognized as a decision."""


def approval_buttons(message: Mapping[str, Any], manifest: AdapterManifest) -> list[dict[str, Any]]:
    """Returns the button component for a pending approval; an empty list if there is nothing to decide."""
    about = message.get("approval") or {}
    if not manifest.buttons or about.get("status") != "pending":
        return []
    keyword = about["keyword"]
    labels = {f"approve {keyword}": "Approve", f"deny {keyword}": "Deny"}
    pressed = [{"label": label, "action_id": APPROVAL_ACTION_ID, "value": words} for words, label in labels.items()]
    data = {"buttons": pressed}
    return [{"type": "Platform", "platform": manifest.name, "component_type": "buttons", "data": data}]

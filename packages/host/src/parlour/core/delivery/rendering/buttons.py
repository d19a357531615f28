"""Buttons under a question to a person, where the platform has such. What they say is what one would write."""

from collections.abc import Mapping
from typing import Any

from parlour.core.platforms.manifest import AdapterManifest

ACTION_ID = "approval"
"""By which a press is known for a decision."""


def under(message: Mapping[str, Any], manifest: AdapterManifest) -> list[dict[str, Any]]:
    """The component that a message about an approval ends with; none if there is nothing to decide."""
    about = message.get("approval") or {}
    if not manifest.buttons or about.get("status") != "pending":
        return []
    keyword = about["keyword"]
    labels = {f"approve {keyword}": "Approve", f"deny {keyword}": "Deny"}
    pressed = [{"label": label, "action_id": ACTION_ID, "value": words} for words, label in labels.items()]
    data = {"buttons": pressed}
    return [{"type": "Platform", "platform": manifest.name, "component_type": "buttons", "data": data}]

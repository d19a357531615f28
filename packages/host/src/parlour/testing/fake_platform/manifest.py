"""Declares the abilities of the fake platform: all of them, unless a test removes some."""

from typing import Any

from parlour.core.platforms.manifest import ActionDeclaration, AdapterManifest, ComponentKinds, Mode, PlatformLimits
from parlour.testing.platform_surface import APIS, COMPONENTS, EVENTS
from parlour_sdk.protocol.form import FormItem

NAME = "fake"


def manifest(without: dict[str, str] | None = None, **fields: Any) -> AdapterManifest:
    """Returns the manifest. `without` names missing events and APIs with the reason; `fields` replace other fields."""
    missing = without or {}
    declared: dict[str, Any] = {
        "name": NAME,
        "label": {"en_US": "Fake"},
        "description": {"en_US": "A platform in memory"},
        "config": [FormItem(name="token", label={"en_US": "Token"}, type="secret")],
        "modes": {"memory": Mode(label={"en_US": "In memory"})},
        "supported_events": [*(name for name in EVENTS if name not in missing), f"platform.{NAME}.*"],
        "supported_apis": [name for name in APIS if name not in missing],
        "components": ComponentKinds(receive=list(COMPONENTS), send=[name for name in COMPONENTS if name != "Source"]),
        "actions": {
            "shout": ActionDeclaration(description="Says it loudly.", parameters=_SHOUT, here={"chat_id": "chat_id"}),
        },
        "not_supported": {**missing, "send Source": "It says which message a received one is."},
        "limits": PlatformLimits(text=4000, edits_per_second=5),
        "dialect": "markdown",
        "mentions_everyone": "@everyone",
    }
    return AdapterManifest(**(declared | fields))


_SHOUT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}, "chat_id": {"type": "string"}},
}

"""Builds the manifest of a platform with given limits and components."""

from typing import Any

from parlour.core.platforms.manifest import AdapterManifest, ComponentKinds, PlatformLimits

EVERYTHING = ["Plain", "At", "AtAll", "Image", "Voice", "File", "Video", "Quote", "Face", "Forward"]


def manifest(
    limit: int = 4000, unit: str = "characters", send: list[str] | None = None, **fields: Any
) -> AdapterManifest:
    limits = {"text": limit, "text_unit": unit, **fields.pop("limits", {})}
    return AdapterManifest(
        name="fake",
        label={"en_US": "Fake"},
        description={"en_US": "Fake"},
        modes={},
        supported_events=["message.received"],
        components=ComponentKinds(receive=[], send=EVERYTHING if send is None else send),
        limits=PlatformLimits(**limits),
        **{"supported_apis": ["send_message"], "dialect": "markdown", **fields},
    )

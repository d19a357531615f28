"""Response schema of a remote runtime."""

from typing import Literal

from typing_extensions import TypedDict

from parlour_sdk.protocol.runtimes import ProviderLogin

from ..responses import TimestampMs


class RuntimeResponse(TypedDict):
    runtime_id: str
    plugin_id: str
    status: Literal["active", "gone"]
    labels: list[str]
    runners: list[str]
    """None named means any."""
    slots: int
    versions: dict[str, str]
    providers: list[ProviderLogin]
    workspaces: list[str]
    registered_at: TimestampMs
    last_seen_at: TimestampMs
    expires_at: TimestampMs
    """When it counts as gone unless it is heard of again."""

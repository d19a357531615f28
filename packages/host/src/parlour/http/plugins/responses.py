"""Response schemas of a plugin."""

from typing import Literal

from typing_extensions import TypedDict

from ..responses import Moment, Words

Permissions = dict[str, list[str]]
PluginState = Literal["building", "starting", "ready", "waiting", "failed", "stopped", "disabled"]


class PermissionInWords(TypedDict):
    key: str
    values: dict[str, str]
    """What the text in another language is made with."""
    text: str
    """What it may do, such as "call tools"."""


class PermissionWords(TypedDict):
    asked: list[PermissionInWords]
    granted: list[PermissionInWords]
    ungranted: list[PermissionInWords]


class PluginPermissionsShown(TypedDict):
    asked: Permissions
    granted: Permissions
    ungranted: Permissions
    """Asked for and not granted."""
    words: PermissionWords


class PluginComponent(TypedDict):
    kind: str
    name: str


class Plugin(TypedDict):
    id: str
    """`author/name`."""
    version: str
    status: PluginState
    """`building`: its environment; `waiting`: for its next start; `failed`: until somebody does something."""
    reason: str | None
    """Why it does not run, or what else is to be known about it."""
    enabled: bool
    label: Words | None
    description: Words | None
    permissions: PluginPermissionsShown
    sandbox: str | None
    """How it is confined; null when that is not known."""
    sandbox_reason: str | None
    sandbox_remedy: str | None
    sandbox_missing: bool
    """Whether a sandbox is wanted and can't be had."""
    sandbox_command: str | None
    """What to type where the plugin runs to have it; null when that is not known."""
    source: str
    """Where it came from."""
    sha256: str
    installed_at: Moment | None
    components: list[PluginComponent]
    warnings: list[str]

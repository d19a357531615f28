"""Plugins as people administer them: what there is to see, to do, and to be refused. Knows no process and no file."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from parlour_sdk.values import dataclass

Grants = Mapping[str, Sequence[str]]
"""Permissions by key, such as `{"network": ["api.example.org"]}`."""
Forget = Callable[[str], Awaitable[None]]
"""Deletes what a plugin has stored with the Host. Its process has ended by then."""


UNUSABLE = "plugin_unusable"
"""There is too little of a plugin to do anything with it but install it again or remove it."""


class PluginProblem(Exception):
    """Something can't be done with a plugin; nothing was changed unless the message says so."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


@dataclass(frozen=True, slots=True)
class Offer:
    """What a plugin says of itself once its process is ready; nobody has looked into it yet."""

    runners: list[Any]
    components: list[Any]


@dataclass(frozen=True, slots=True)
class PluginFacts:
    plugin_id: str
    version: str
    status: str
    reason: str
    label: dict[str, str] | None
    description: dict[str, str] | None
    asked: Grants
    granted: Grants
    enabled: bool
    source: str
    sha256: str
    installed_at: int
    components: tuple[dict[str, str], ...]
    warnings: tuple[str, ...] = ()
    """What is odd about its files and harms nobody."""
    sandbox: str = ""
    """How it is confined; empty when it is not known."""
    sandbox_reason: str = ""
    sandbox_remedy: str = ""
    sandbox_missing: bool = False
    """Whether a sandbox is wanted and can't be had."""
    sandbox_command: str = ""
    """What to type where the plugin runs to have it, where that is known."""

    @property
    def ungranted(self) -> dict[str, list[str]]:
        """What it asks for and does not have."""
        rest = {
            key: [each for each in values if each not in self.granted.get(key, ())]
            for key, values in self.asked.items()
        }
        return {key: values for key, values in rest.items() if values}


class PluginKeeper(Protocol):
    """Every method raises PluginProblem."""

    def all(self) -> list[PluginFacts]: ...

    def get(self, plugin_id: str) -> PluginFacts | None: ...

    async def log(self, plugin_id: str, limit: int) -> list[str]: ...

    async def install(
        self, source: str, shown: str | None, granted: Sequence[str] | None, upgrade: str | None
    ) -> PluginFacts:
        """From a folder, zip or git address, called `shown`. `granted` is what it gets of what it asks for."""
        ...

    async def change(self, plugin_id: str, granted: Sequence[str] | None, enabled: bool | None) -> PluginFacts: ...

    async def restart(self, plugin_id: str) -> PluginFacts: ...

    async def remove(self, plugin_id: str, delete_data: bool) -> None: ...

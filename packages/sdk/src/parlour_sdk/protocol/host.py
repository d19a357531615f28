"""Facts about the Host itself."""

from typing import Any

from .base import Tolerant
from .calls import Call


class PluginConfigGet(Call):
    """Asks for the plugin's own configuration."""


class PluginConfig(Tolerant):
    """The values of the plugin's own form, with its defaults; secrets are readable."""

    config: dict[str, Any] = {}


class HostVersionGet(Call):
    """Asks which Host this is."""


class HostVersion(Tolerant):
    """Which Host this is."""

    version: str
    protocol: int

"""Defines Plugin, the optional main class of a plugin, with hooks for the start and the end of its process."""

from parlour_sdk.api import PluginAPI


class Plugin:
    """Base of the class that the manifest names in `execution.python.attr`."""

    async def initialize(self, api: PluginAPI) -> None:
        """Runs before the plugin receives any request. An exception ends the process, with the reason in the log."""

    async def close(self) -> None:
        """Runs before the process ends in a regular shutdown."""

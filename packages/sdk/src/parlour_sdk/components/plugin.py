"""A plugin's main class, for what happens once: when its process starts and before it ends. It is optional."""

from parlour_sdk.api import PluginAPI


class Plugin:
    """Named by the manifest's `execution.python.attr`."""

    async def initialize(self, api: PluginAPI) -> None:
        """Before anything is asked of the plugin. What is raised here ends the process, with its reason in the log."""

    async def close(self) -> None:
        """Before the process ends in good order."""

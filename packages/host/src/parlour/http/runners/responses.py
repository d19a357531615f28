"""Response schema of a runner."""

from typing_extensions import TypedDict

from parlour_sdk.protocol.form import FormItem
from parlour_sdk.protocol.manifest import Capabilities, Permissions

from ..plugins.responses import PluginState
from ..responses import LocalizedText


class RunnerPlugin(TypedDict):
    id: str
    version: str
    status: PluginState


class Runner(TypedDict):
    """What agents are made of."""

    id: str
    label: LocalizedText
    description: LocalizedText | None
    capabilities: Capabilities
    permissions: Permissions
    config_schema: list[FormItem]
    """The form of an agent's `runner_config`."""
    plugin: RunnerPlugin

"""Actions for the version of the Host, and for the plugin's own configuration."""

from collections.abc import Callable, Sequence

from parlour.core.config import secret_fields
from parlour.core.config.form_validation import with_defaults
from parlour.core.config.plugin_configs import PluginConfigs
from parlour.core.errors import CallRejected
from parlour.core.model.plugin_manager import PluginInfo
from parlour.core.runs.caller import ActionCaller
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.host import HostVersion, HostVersionGet, PluginConfig, PluginConfigGet

from .handlers import Handler


class HostInfoActions:
    def __init__(
        self,
        version: str,
        configs: PluginConfigs,
        plugins: Callable[[], Sequence[PluginInfo]],
        secrets: SecretBox,
    ) -> None:
        self._version = version
        self._configs = configs
        self._plugins = plugins
        self._secrets = secrets

    def handlers(self) -> dict[str, Handler]:
        return {"get_host_version": self.version, "get_plugin_config": self.config}

    async def config(self, caller: ActionCaller, request: PluginConfigGet) -> PluginConfig:
        """Returns the calling plugin's own configuration, with the defaults of its form."""
        info = next((each for each in self._plugins() if each.plugin_id == caller.plugin_id), None)
        form = list(info.config_schema) if info is not None else []
        try:
            values = secret_fields.open_secrets(await self._configs.get(caller.plugin_id), self._secrets)
        except SecretUnreadable as failure:
            raise CallRejected("conflict", f"the configuration can't be read: {failure}") from failure
        names = {item.name for item in form}
        return PluginConfig(config=with_defaults(form, {name: values[name] for name in values if name in names}))

    async def version(self, caller: ActionCaller, request: HostVersionGet) -> HostVersion:
        return HostVersion(version=self._version, protocol=PROTOCOL_VERSION)

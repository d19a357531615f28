"""Action for the calling plugin's own configuration."""

from parlour.core.config import secret_fields
from parlour.core.config.form_validation import with_defaults
from parlour.core.config.plugin_configs import PluginConfigs
from parlour.core.errors import CallRejected
from parlour.core.runs.caller import ActionCaller
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour_sdk.protocol.host import PluginConfig, PluginConfigGet

from .catalog import InstalledPlugins
from .handlers import Handler


class PluginConfigActions:
    """Returns the values of a plugin's own form to the plugin."""

    def __init__(self, configs: PluginConfigs, plugins: InstalledPlugins, secrets: SecretBox) -> None:
        self._configs = configs
        self._plugins = plugins
        self._secrets = secrets

    def handlers(self) -> dict[str, Handler]:
        return {"get_plugin_config": self.config}

    async def config(self, caller: ActionCaller, request: PluginConfigGet) -> PluginConfig:
        """Returns the values with the defaults of the form; values of former fields are left out."""
        info = next((each for each in self._plugins() if each.plugin_id == caller.plugin_id), None)
        form = list(info.config_schema) if info is not None else []
        try:
            values = secret_fields.open_secrets(await self._configs.get(caller.plugin_id), self._secrets)
        except SecretUnreadable as failure:
            raise CallRejected("conflict", f"the configuration can't be read: {failure}") from failure
        names = {item.name for item in form}
        return PluginConfig(config=with_defaults(form, {name: values[name] for name in values if name in names}))

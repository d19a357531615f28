"""Endpoints of a plugin's own configuration: its form and values. Secrets are written, and never read."""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from parlour.core.access import audit
from parlour.core.config import secret_fields
from parlour.core.config.form_validation import validate, with_defaults
from parlour.core.config.plugin_configs import PluginConfigs
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginError, PluginInfo, PluginManager
from parlour.core.model.ports import Clock, PluginUnavailable
from parlour.core.secrets import SecretBox
from parlour_sdk.protocol.form import FormItem
from parlour_sdk.values import dataclass

from .. import etags
from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..errors import Problem, invalid_field, not_found
from ..etags import IfMatch
from ..responses import Json


class PluginConfigBody(BaseModel):
    """The values of the form. A secret that is sent back masked stays as it is."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"config": {"city": "Berlin"}}]})

    config: dict[str, Any]


class PluginConfigResponse(TypedDict):
    """The plugin's own form, and its values with their defaults."""

    config_schema: list[FormItem]
    config: Json


@dataclass(frozen=True, slots=True)
class PluginConfigForms:
    """Reads and changes the configurations of plugins for operators."""

    plugins: PluginManager
    configs: PluginConfigs
    secrets: SecretBox
    clock: Clock

    def info(self, author: str, name: str) -> PluginInfo:
        info = self.plugins.get(PluginId(f"{author}/{name}"))
        if info is None:
            raise not_found(f"plugin '{author}/{name}'", "GET /api/v1/plugins lists them")
        return info

    async def read(self, info: PluginInfo, response: Response) -> PluginConfigResponse:
        form = list(info.config_schema)
        stored = await self.configs.get(info.plugin_id)
        etags.set_etag(response, stored)
        return {"config_schema": form, "config": _shown(form, stored)}

    async def change(
        self, principal_name: str, info: PluginInfo, config: dict[str, Any], if_match: str | None
    ) -> dict[str, Any]:
        form = list(info.config_schema)
        if not form:
            raise Problem(409, "conflict", f"plugin {info.plugin_id} has no configuration of its own")
        stored = await self.configs.get(info.plugin_id)
        etags.check_if_match(f"the configuration of {info.plugin_id}", if_match, stored)
        names = {item.name for item in form if not item.display}
        if unknown := sorted(config.keys() - names):
            raise invalid_field(
                f"config.{unknown[0]}", f"the form has no such field; it has {', '.join(sorted(names))}"
            )
        merged = secret_fields.merge_masked(form, config, stored)
        for field, message in validate(form, with_defaults(form, config)):
            raise invalid_field(f"config.{field}", message)
        values = secret_fields.seal_secrets(form, merged, self.secrets)
        before, after = (secret_fields.mask_secrets(form, each) for each in (stored, values))
        entry = audit.change_entry(principal_name, "plugin.configure", info.plugin_id, before, after, self.clock.now())
        await self.configs.put(info.plugin_id, values, entry)
        return values


def router(forms: PluginConfigForms) -> APIRouter:
    routes = ApiRouter(tags=["plugins"])

    @routes.get("/plugins/{author}/{name}/config")
    async def read_plugin_config(author: str, name: str, principal: Viewer, response: Response) -> PluginConfigResponse:
        """The plugin's own form, and its values; secrets are masked."""
        return await forms.read(forms.info(author, name), response)

    @routes.put("/plugins/{author}/{name}/config")
    async def change_plugin_config(
        author: str, name: str, body: PluginConfigBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> PluginConfigResponse:
        """Stores the values and restarts the plugin, which then reads them."""
        info = forms.info(author, name)
        await forms.change(principal.owner, info, body.config, if_match)
        if info.enabled:
            await _restart(forms.plugins, info.plugin_id)
        return await forms.read(info, response)

    return routes


async def _restart(plugins: PluginManager, plugin_id: PluginId) -> None:
    try:
        await plugins.restart(plugin_id)
    except (PluginError, PluginUnavailable) as failure:
        message = f"the configuration is stored, and {plugin_id} did not start with it: {failure}"
        raise Problem(409, "plugin_not_started", message) from failure


def _shown(form: list[FormItem], stored: dict[str, Any]) -> Json:
    names = {item.name for item in form}
    return secret_fields.mask_secrets(form, with_defaults(form, {n: v for n, v in stored.items() if n in names}))

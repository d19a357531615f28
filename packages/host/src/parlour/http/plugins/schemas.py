"""Request schemas for plugins, and the response built from a plugin's facts."""

from typing import cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from parlour.core.access.permission_text import describe_permissions
from parlour.core.model.plugin_manager import BundledPlugin, PermissionMap, PluginInfo
from parlour_sdk.protocol.rules.process_permissions import from_lists

from .responses import (
    BundledPluginResponse,
    PermissionTextResponse,
    PluginPermissionsResponse,
    PluginResponse,
    PluginState,
)

NO_SANDBOX_PERMISSION = "no_sandbox"
"""Permission text of a plugin without a sandbox. It describes what the plugin can do, not what it requested."""

PermissionItem = str
"""A granted permission: `key` for everything that is requested under it, or `key:value`."""


class InstallBody(BaseModel):
    """Where the plugin comes from. What it asks for must be granted in so many words, if only with an empty list."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"source": "https://git.example.org/echo-agent.git", "granted": []}]},
    )

    source: str = Field(
        min_length=1, max_length=4096, description="A folder, a zip file, a git address or bundled:NAME"
    )
    granted: list[PermissionItem] | None = Field(default=None, max_length=1000)
    upgrade: str | None = Field(default=None, description="Refuses anything but a new version of this plugin")


class UploadFields(BaseModel):
    """Text fields next to an uploaded file; `granted` is a JSON list."""

    model_config = ConfigDict(extra="forbid")

    granted: list[PermissionItem] | None = Field(default=None, max_length=1000)
    upgrade: str | None = None


class ChangeBody(BaseModel):
    """What is named is changed."""

    model_config = ConfigDict(extra="forbid")

    granted: list[PermissionItem] | None = Field(default=None, max_length=1000)
    enabled: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "ChangeBody":
        if self.granted is None and self.enabled is None:
            raise ValueError("name 'granted' or 'enabled'")
        return self


def _permissions(info: PluginInfo) -> PluginPermissionsResponse:
    """Returns the permissions as `granted` accepts them, and as texts for the operator who decides."""
    boxed = info.sandbox not in ("", "none")
    requested, granted, ungranted = (
        _permission_texts(each, boxed) for each in (info.asked, info.granted, info.ungranted)
    )
    return {
        "asked": _lists(info.asked),
        "granted": _lists(info.granted),
        "ungranted": info.ungranted,
        "words": {
            "asked": [each for each in requested if each["key"] != NO_SANDBOX_PERMISSION],
            "granted": granted,
            "ungranted": [each for each in ungranted if each["key"] != NO_SANDBOX_PERMISSION],
        },
    }


def _lists(permissions: PermissionMap) -> dict[str, list[str]]:
    return {key: list(values) for key, values in permissions.items()}


def _permission_texts(permission_map: PermissionMap, boxed: bool) -> list[PermissionTextResponse]:
    permissions = from_lists(permission_map)
    return [
        {"key": each.key, "values": each.values, "text": each.text} for each in describe_permissions(permissions, boxed)
    ]


def to_bundled_response(plugin: BundledPlugin, installed_version: str | None) -> BundledPluginResponse:
    return {
        "id": plugin.plugin_id,
        "source": plugin.source,
        "version": plugin.version,
        "installed_version": installed_version,
        "label": plugin.label,
        "description": plugin.description,
        "icon": plugin.icon or None,
    }


def to_response(info: PluginInfo) -> PluginResponse:
    return {
        "id": info.plugin_id,
        "version": info.version,
        "status": cast("PluginState", info.status),
        "reason": info.reason or None,
        "enabled": info.enabled,
        "label": info.label,
        "description": info.description,
        "permissions": _permissions(info),
        "sandbox": info.sandbox or None,
        "sandbox_reason": info.sandbox_reason or None,
        "sandbox_remedy": info.sandbox_remedy or None,
        "sandbox_missing": info.sandbox_missing,
        "sandbox_command": info.sandbox_command or None,
        "source": info.source,
        "sha256": info.sha256,
        "installed_at": info.installed_at or None,
        "components": [{"kind": each["kind"], "name": each["name"]} for each in info.components],
        "configurable": bool(info.config_schema),
        "warnings": list(info.warnings),
    }

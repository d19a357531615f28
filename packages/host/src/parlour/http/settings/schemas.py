"""Builds the request and response schemas of the settings from their declarations.

In a request omitted fields stay unchanged, and null restores the value of the file or the environment.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from parlour.core.config.setting_declarations import DeclaredSection

from ..validation_errors import register_pattern

EXAMPLE: JsonValue = {"retention": {"events_days": 180}, "workspace": {"time_zone": "Asia/Tokyo"}}
Sections = Sequence[DeclaredSection]


class SettingsSection(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class SettingsRequest(SettingsSection):
    """Base of the request schema, which has a field for each section."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    def iter_changes(self) -> Iterator[tuple[str, Any]]:
        """Yields the changes by the full names of the settings."""
        for name in type(self).model_fields:
            section = getattr(self, name)
            if isinstance(section, SettingsSection):
                yield from ((f"{name}.{key}", getattr(section, key)) for key in section.model_fields_set)


def request_schema(sections: Sections) -> type[SettingsRequest]:
    """Builds the body of `PUT /settings`."""
    fields: dict[str, Any] = {}
    for section in sections:
        for setting in section.settings:
            _register_message(setting.accepts, setting.options.pattern_message)
        settings: dict[str, Any] = {each.name: (each.accepts | None, None) for each in section.settings}
        model = create_model(
            section.request_schema, __base__=SettingsSection, __doc__=section.request_description or None, **settings
        )
        fields[section.name] = (model, model())
    changed_field: list[str] = Field(default=[], description="Only told; what is sent is not looked at")
    return create_model("SettingsBody", __base__=SettingsRequest, **fields, changed=(list[str], changed_field))


def response_schema(sections: Sections) -> type[BaseModel]:
    """Builds the response of `GET /settings` for the OpenAPI document."""
    fields: dict[str, Any] = {}
    for section in sections:
        settings: dict[str, Any] = {
            each.name: (each.type, Field(description=each.options.description or None)) for each in section.settings
        }
        description = section.response_description or None
        model = create_model(section.response_schema, __base__=SettingsSection, __doc__=description, **settings)
        fields[section.name] = (model, ...)
    changed_description = (
        "What was changed here, such as `retention.events_days`; the rest is as the file and the environment say."
    )
    return create_model(
        "SettingsResponse",
        __base__=SettingsSection,
        __doc__="What may be changed while the Host runs.",
        **fields,
        changed=(list[str], Field(description=changed_description)),
    )


def _register_message(accepts: Any, message: str) -> None:
    """Registers the message for values that do not match the pattern of a type."""
    for each in getattr(accepts, "__metadata__", ()):
        for limit in getattr(each, "metadata", ()):
            if message and getattr(limit, "pattern", None):
                register_pattern(limit.pattern, message)

"""Lists the settings that may be changed while the Host runs, and applies changes of them."""

import logging
from collections.abc import Iterator
from dataclasses import replace

from parlour.core.config.live_settings import SettingValues
from parlour.core.config.setting_declarations import DeclaredSection, DeclaredSetting, RuntimeSetting
from parlour.core.store.retention import Retention, RetentionPeriods

from .core import Core
from .settings import ConfigSection, HostSettings

SECTIONS = (
    DeclaredSection(
        "retention",
        "RetentionBody",
        "RetentionResponse",
        "How many days things are kept. A clean-up follows at once.",
        "How many days things are kept; 0: for ever.",
    ),
    DeclaredSection("runs", "RunsBody", "RunLimitsResponse", response_description="How many runs go on at once."),
    DeclaredSection("workspace", "WorkspaceBody", "WorkspaceResponse"),
    DeclaredSection("logs", "LogsBody", "LogsResponse"),
)
"""Sections with settings that can be changed while the Host runs, in the order of the HTTP interface."""


def declared_sections() -> tuple[DeclaredSection, ...]:
    """Returns the sections with the settings that their fields declare."""
    return tuple(with_declared_settings(section, section_class(section.name)) for section in SECTIONS)


def section_class(name: str) -> type[ConfigSection]:
    annotation = HostSettings.model_fields[name].annotation
    assert isinstance(annotation, type)
    assert issubclass(annotation, ConfigSection)
    return annotation


def with_declared_settings(section: DeclaredSection, fields: type[ConfigSection]) -> DeclaredSection:
    """Returns the section with the fields that are marked as changeable."""
    return replace(section, settings=tuple(_declared_settings(section.name, fields)))


def _declared_settings(section: str, fields: type[ConfigSection]) -> Iterator[DeclaredSetting]:
    for name, field in fields.model_fields.items():
        marks = [each for each in field.metadata if isinstance(each, RuntimeSetting)]
        if marks:
            default = None if field.default_factory is not None else field.default
            yield DeclaredSetting(section, name, field.annotation, default, marks[0])


def defaults_from_config(settings: HostSettings) -> dict[str, object]:
    """Returns the values from the file and the environment, by name."""
    declared = (each for section in declared_sections() for each in section.settings)
    return {each.key: getattr(getattr(settings, each.section), each.name) for each in declared}


class SettingsApplier:
    """Passes changed settings to the objects that use them."""

    def __init__(self, core: Core, retention: Retention, log_level: str) -> None:
        self._core = core
        self._retention = retention
        self._log_level = log_level

    def apply(self, values: SettingValues) -> None:
        """Applies the values."""
        core = self._core
        core.slots.resize(values["runs.concurrent"], values["runs.per_person"])
        core.loop_guard.set_limits(values["runs.per_sender_per_minute"], values["runs.per_conversation_per_minute"])
        core.days.set_time_zone(values["workspace.time_zone"])
        core.languages.set_workspace_language(values["workspace.language"])
        core.command_rules.change(values["workspace.command_prefixes"], values["workspace.command_roles"])
        self._retention.set_periods(retention_periods(values))
        if values["logs.level"] != self._log_level:
            self._log_level = str(values["logs.level"])
            logging.getLogger().setLevel(self._log_level.upper())


def retention_periods(values: SettingValues) -> RetentionPeriods:
    return RetentionPeriods(
        values["retention.events_days"],
        values["retention.run_events_days"],
        values["retention.artifacts_days"],
        values["retention.audit_days"],
        values["retention.model_calls_days"],
        values["retention.directory_days"],
        values["retention.heard_days"],
    )

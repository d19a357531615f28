"""Lists the settings that may be changed while the Host runs, and applies changes of them."""

import logging

from parlour.core.config.live_settings import SettingValues
from parlour.core.store.retention import Retention, RetentionPeriods

from .core import Core
from .settings import HostSettings


def defaults_from_config(settings: HostSettings) -> dict[str, object]:
    """Returns the values from the file and the environment, by name."""
    days = {"events_days", "run_events_days", "artifacts_days", "audit_days", "model_calls_days"}
    kept = settings.retention.model_dump(include=days)
    sections = {
        "retention": kept,
        "runs": settings.runs.model_dump(),
        "workspace": settings.workspace.model_dump(),
        "logs": settings.logs.model_dump(include={"level"}),
    }
    return {f"{section}.{name}": value for section, values in sections.items() for name, value in values.items()}


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
    )

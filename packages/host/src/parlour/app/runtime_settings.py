"""Lists the settings that may be changed while the Host runs, and applies changes of them."""

import logging

from parlour.core.config.live_settings import Values
from parlour.core.store.retention import Retention, Terms

from .core import Core
from .settings import Settings


def configured(settings: Settings) -> dict[str, object]:
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


class Tuned:
    """Passes changed settings to the objects that use them."""

    def __init__(self, core: Core, retention: Retention, log_level: str) -> None:
        self._core = core
        self._retention = retention
        self._log_level = log_level

    def follow(self, values: Values) -> None:
        """Applies the values."""
        core = self._core
        core.slots.resize(values["runs.concurrent"], values["runs.per_person"])
        core.loop_cap.allow(values["runs.per_sender_per_minute"], values["runs.per_conversation_per_minute"])
        core.days.move(values["workspace.time_zone"])
        core.languages.use(values["workspace.language"])
        self._retention.keep(retention_terms(values))
        if values["logs.level"] != self._log_level:
            self._log_level = str(values["logs.level"])
            logging.getLogger().setLevel(self._log_level.upper())


def retention_terms(values: Values) -> Terms:
    return Terms(
        values["retention.events_days"],
        values["retention.run_events_days"],
        values["retention.artifacts_days"],
        values["retention.audit_days"],
        values["retention.model_calls_days"],
    )

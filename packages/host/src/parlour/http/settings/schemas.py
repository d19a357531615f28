"""Request schemas of the settings: omitted fields stay unchanged, null restores the value of the file or the
environment."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from parlour.core.routing import time_windows
from parlour.core.texts.catalogue import Language

from ..validation_errors import register_pattern

CURRENCY = register_pattern(r"^([A-Z]{3})?$", "must be a code of three capital letters such as EUR, or empty")
Days = Annotated[float, Field(ge=0, le=36_500, description="0: for ever")]
Address = Annotated[str, Field(min_length=1, max_length=200)]


def _known(name: str) -> str:
    try:
        time_windows.load_zone(name)
    except (KeyError, ValueError, OSError):
        raise PydanticCustomError("time_zone", "must be a time zone such as Europe/Berlin or UTC") from None
    return name


class SettingsSection(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class RetentionBody(SettingsSection):
    """How many days things are kept. A clean-up follows at once."""

    events_days: Days | None = None
    run_events_days: Days | None = None
    artifacts_days: Days | None = None
    audit_days: Days | None = None
    model_calls_days: Days | None = None


class RunsBody(SettingsSection):
    concurrent: Annotated[int, Field(ge=1, le=100_000)] | None = None
    per_person: Annotated[int, Field(ge=1, le=100_000)] | None = None
    per_sender_per_minute: Annotated[int, Field(ge=0, le=100_000, description="0: no limit")] | None = None
    per_conversation_per_minute: Annotated[int, Field(ge=0, le=100_000, description="0: no limit")] | None = None


class WorkspaceBody(SettingsSection):
    time_zone: Annotated[str, Field(max_length=64), AfterValidator(_known)] | None = None
    language: Language | None = None
    outbound_ips: Annotated[list[Address], Field(max_length=100)] | None = None
    currency: Annotated[str, Field(pattern=CURRENCY, description="Empty: that of the providers")] | None = None


class LogsBody(SettingsSection):
    level: Literal["debug", "info", "warning", "error"] | None = None


class SettingsBody(SettingsSection):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"retention": {"events_days": 180}, "workspace": {"time_zone": "Asia/Tokyo"}}]}
    )

    retention: RetentionBody = RetentionBody()
    runs: RunsBody = RunsBody()
    workspace: WorkspaceBody = WorkspaceBody()
    logs: LogsBody = LogsBody()
    changed: list[str] = Field(default=[], description="Only told; what is sent is not looked at")

    def iter_changes(self) -> Iterator[tuple[str, Any]]:
        """Yields the changes by the full names of the settings."""
        for name in ("retention", "runs", "workspace", "logs"):
            section = getattr(self, name)
            yield from ((f"{name}.{key}", getattr(section, key)) for key in section.model_fields_set)

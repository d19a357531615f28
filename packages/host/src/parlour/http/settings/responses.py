"""Response schemas of the settings."""

from typing import Literal

from typing_extensions import TypedDict

from parlour.core.texts.catalogue import Language


class RetentionResponse(TypedDict):
    """How many days things are kept; 0: for ever."""

    events_days: float
    """With events go transcripts, outgoing messages and runs."""
    run_events_days: float
    """What runs did, step by step."""
    artifacts_days: float
    audit_days: float
    model_calls_days: float
    """Prompts, parameters and answers of models."""


class RunLimitsResponse(TypedDict):
    """How many runs go on at once."""

    concurrent: int
    per_person: int
    per_sender_per_minute: int
    """On platforms; a private chat may be beyond it for ten minutes. 0: no limit."""
    per_conversation_per_minute: int
    """For all senders of a group on a platform together. 0: no limit."""


class WorkspaceResponse(TypedDict):
    time_zone: str
    language: Language
    """In which the Host speaks to people whose own language it does not know."""
    outbound_ips: list[str]
    currency: str
    """The code of the currency that costs are shown in; empty: that of the providers, where they agree."""


class LogsResponse(TypedDict):
    level: Literal["debug", "info", "warning", "error"]


class SettingsResponse(TypedDict):
    """What may be changed while the Host runs."""

    retention: RetentionResponse
    runs: RunLimitsResponse
    workspace: WorkspaceResponse
    logs: LogsResponse
    changed: list[str]
    """What was changed here, such as `retention.events_days`; the rest is as the file and the environment say."""

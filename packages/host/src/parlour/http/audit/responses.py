"""Response schema of an audit entry."""

from typing import Any, Literal

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class AuditEntry(TypedDict):
    seq: int
    kind: Literal["access", "admin", "runtime"]
    actor: str
    action: str
    outcome: str
    code: str | None
    resource: str | None
    scope: str | None
    run_id: Id | None
    runner_id: str | None
    plugin_id: str | None
    detail: Any
    """Of a change, what was before and after, without secrets; of repeated refusals (code `repeated`), their count."""
    created_at: TimestampMs

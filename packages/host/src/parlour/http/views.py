"""Serializes database rows for responses: empty values become null, JSON columns are decoded."""

from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Row


def _maybe(row: Row, *names: str) -> dict[str, Any]:
    return {name: row[name] or None for name in names}


def run(row: Row) -> dict[str, Any]:
    return {**run_facts(row), "authorization": loads(row["snapshot"])}


def run_facts(row: Row) -> dict[str, Any]:
    """Serializes a run without its grant, which is long."""
    return {
        "run_id": row["run_id"],
        "event_id": row["event_id"],
        "status": row["status"],
        **_maybe(row, "status_reason", "error", "agent_id", "binding_id"),
        "runner_id": row["runner_id"],
        "plugin_id": row["plugin_id"],
        "workspace_id": row["workspace_id"],
        **_maybe(row, "conversation_id", "thread_id", "bot_id", "parent_run_id", "rerun_of"),
        "attempt": row["attempt"],
        "created_at": row["created_at"],
        **_maybe(row, "started_at", "finished_at"),
        "updated_at": row["updated_at"],
        **_maybe(row, "deadline_at", "cancel_requested_at"),
        "usage": loads(row["usage"]),
        "metadata": loads(row["metadata"]),
    }


def run_event(row: Row) -> dict[str, Any]:
    return {
        "run_id": row["run_id"],
        "sequence": row["sequence"],
        "type": row["type"],
        "data": loads(row["data"]),
        "source": row["source"],
        **_maybe(row, "first_sequence", "last_sequence"),
        "created_at": row["created_at"],
        "artifact_refs": loads(row["artifact_refs"]),
        "metadata": loads(row["metadata"]),
    }


def model_call(row: Row) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("call_id", "run_id", "model_id", "outcome")},
        "request": loads(row["request"]),
        "answer": loads(row["answer"]),
        "truncated": bool(row["truncated"]),
        "started_at": row["created_at"],
        "finished_at": row["finished_at"],
    }


def delivery(row: Row) -> dict[str, Any]:
    content = loads(row["payload"])["message"].get("content")
    return {
        "outbox_id": row["outbox_id"],
        "kind": row["kind"],
        "surface": row["surface"],
        "target": row["target"],
        **_maybe(row, "bot_id", "conversation_id"),
        "state": row["state"],
        "reason": row["reason"] or None,
        "text": content if isinstance(content, str) else None,
        "attempts": row["attempts"],
        "possibly_repeated": bool(row["possibly_repeated"]),
        "platform_message_id": row["platform_message_id"] or None,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def denial(row: Row) -> dict[str, Any]:
    told = {name: row[name] for name in ("action", "outcome", "code", "created_at")}
    return {**told, **_maybe(row, "resource", "scope")}


def event(row: Row) -> dict[str, Any]:
    body = loads(row["body"])
    return {
        "event_id": row["event_id"],
        "seq": row["seq"],
        "event_type": row["event_type"],
        "source": row["source"],
        "workspace_id": row["workspace_id"],
        **_maybe(row, "event_time", "bot_id", "conversation_id", "thread_id"),
        **_maybe(row, "actor_type", "actor_id", "actor_name", "subject_type", "subject_id", "input_summary"),
        "created_at": row["created_at"],
        "data": body["data"],
        "metadata": body["metadata"],
    }


def conversation(row: Row) -> dict[str, Any]:
    return {
        "conversation_id": row["conversation_id"],
        "workspace_id": row["workspace_id"],
        "source": row["source"],
        **_maybe(row, "bot_id", "chat", "thread_id", "agent_id"),
        "items": row["transcript_seq"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def transcript_item(row: Row) -> dict[str, Any]:
    return {
        "transcript_id": row["transcript_id"],
        "seq": row["seq"],
        "conversation_id": row["conversation_id"],
        **_maybe(row, "thread_id", "event_id", "run_id"),
        "role": row["role"],
        "item_type": row["item_type"],
        "content": row["content"],
        "content_json": loads(row["content_json"]),
        "artifact_refs": loads(row["artifact_refs"]),
        "created_at": row["created_at"],
        "metadata": loads(row["metadata"]),
    }


def audit_entry(row: Row) -> dict[str, Any]:
    return {
        "seq": row["seq"],
        "kind": row["kind"],
        "actor": row["actor"],
        "action": row["action"],
        "outcome": row["outcome"],
        **_maybe(row, "code", "resource", "scope", "run_id", "runner_id", "plugin_id"),
        "detail": loads(row["detail"]) if row["detail"] else None,
        "created_at": row["created_at"],
    }


def feedback(row: Row) -> dict[str, Any]:
    return {
        "feedback_id": row["feedback_id"],
        "feedback_type": row["feedback_type"],
        "inaccurate_reasons": loads(row["reasons"]),
        "feedback_content": row["content"] or None,
        **_maybe(row, "user_id", "session_id", "message_id", "stream_id"),
        **_maybe(row, "run_id", "agent_id", "bot_id", "conversation_id"),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }

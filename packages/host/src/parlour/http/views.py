"""Serializes database rows for responses: empty values become null, JSON columns are decoded."""

from parlour.core.encoding import loads
from parlour.core.journal import Row

from .conversations.responses import ConversationResponse, TranscriptItemResponse
from .events.event_schema import EventResponse
from .feedback.responses import FeedbackResponse
from .runs.responses import (
    DeliveryResponse,
    Denial,
    ModelCallResponse,
    RunEventResponse,
    RunFacts,
    RunRecord,
)


def run(row: Row) -> RunRecord:
    return {**run_facts(row), "authorization": loads(row["snapshot"])}


def run_facts(row: Row) -> RunFacts:
    """Serializes a run without its grant, which is long."""
    return {
        "run_id": row["run_id"],
        "event_id": row["event_id"],
        "status": row["status"],
        "status_reason": row["status_reason"] or None,
        "error": row["error"] or None,
        "agent_id": row["agent_id"] or None,
        "binding_id": row["binding_id"] or None,
        "runner_id": row["runner_id"],
        "plugin_id": row["plugin_id"],
        "workspace_id": row["workspace_id"],
        "conversation_id": row["conversation_id"] or None,
        "thread_id": row["thread_id"] or None,
        "bot_id": row["bot_id"] or None,
        "parent_run_id": row["parent_run_id"] or None,
        "rerun_of": row["rerun_of"] or None,
        "attempt": row["attempt"],
        "created_at": row["created_at"],
        "started_at": row["started_at"] or None,
        "finished_at": row["finished_at"] or None,
        "updated_at": row["updated_at"],
        "deadline_at": row["deadline_at"] or None,
        "cancel_requested_at": row["cancel_requested_at"] or None,
        "claimed_by": row["claimed_by"] or None,
        "usage": loads(row["usage"]),
        "metadata": loads(row["metadata"]),
    }


def run_event(row: Row) -> RunEventResponse:
    return {
        "run_id": row["run_id"],
        "sequence": row["sequence"],
        "type": row["type"],
        "data": loads(row["data"]),
        "source": row["source"],
        "first_sequence": row["first_sequence"] or None,
        "last_sequence": row["last_sequence"] or None,
        "created_at": row["created_at"],
        "artifact_refs": loads(row["artifact_refs"]),
        "metadata": loads(row["metadata"]),
    }


def model_call(row: Row) -> ModelCallResponse:
    return {
        "call_id": row["call_id"],
        "run_id": row["run_id"],
        "model_id": row["model_id"],
        "outcome": row["outcome"],
        "request": loads(row["request"]),
        "answer": loads(row["answer"]),
        "truncated": bool(row["truncated"]),
        "started_at": row["created_at"],
        "finished_at": row["finished_at"],
    }


def delivery(row: Row) -> DeliveryResponse:
    content = loads(row["payload"])["message"].get("content")
    return {
        "outbox_id": row["outbox_id"],
        "kind": row["kind"],
        "surface": row["surface"],
        "target": row["target"],
        "bot_id": row["bot_id"] or None,
        "conversation_id": row["conversation_id"] or None,
        "state": row["state"],
        "reason": row["reason"] or None,
        "text": content if isinstance(content, str) else None,
        "attempts": row["attempts"],
        "possibly_repeated": bool(row["possibly_repeated"]),
        "platform_message_id": row["platform_message_id"] or None,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def denial(row: Row) -> Denial:
    return {
        "action": row["action"],
        "outcome": row["outcome"],
        "code": row["code"],
        "created_at": row["created_at"],
        "resource": row["resource"] or None,
        "scope": row["scope"] or None,
    }


def event(row: Row) -> EventResponse:
    body = loads(row["body"])
    return {
        "event_id": row["event_id"],
        "seq": row["seq"],
        "event_type": row["event_type"],
        "source": row["source"],
        "workspace_id": row["workspace_id"],
        "event_time": row["event_time"] or None,
        "bot_id": row["bot_id"] or None,
        "conversation_id": row["conversation_id"] or None,
        "thread_id": row["thread_id"] or None,
        "actor_type": row["actor_type"] or None,
        "actor_id": row["actor_id"] or None,
        "actor_name": row["actor_name"] or None,
        "subject_type": row["subject_type"] or None,
        "subject_id": row["subject_id"] or None,
        "input_summary": row["input_summary"] or None,
        "created_at": row["created_at"],
        "data": body["data"],
        "metadata": body["metadata"],
    }


def conversation(row: Row) -> ConversationResponse:
    return {
        "conversation_id": row["conversation_id"],
        "workspace_id": row["workspace_id"],
        "source": row["source"],
        "bot_id": row["bot_id"] or None,
        "chat": row["chat"] or None,
        "thread_id": row["thread_id"] or None,
        "agent_id": row["agent_id"] or None,
        "items": row["transcript_seq"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def transcript_item(row: Row) -> TranscriptItemResponse:
    return {
        "transcript_id": row["transcript_id"],
        "seq": row["seq"],
        "conversation_id": row["conversation_id"],
        "thread_id": row["thread_id"] or None,
        "event_id": row["event_id"] or None,
        "run_id": row["run_id"] or None,
        "role": row["role"],
        "item_type": row["item_type"],
        "content": row["content"],
        "content_json": loads(row["content_json"]),
        "artifact_refs": loads(row["artifact_refs"]),
        "created_at": row["created_at"],
        "metadata": loads(row["metadata"]),
    }


def feedback(row: Row) -> FeedbackResponse:
    return {
        "feedback_id": row["feedback_id"],
        "feedback_type": row["feedback_type"],
        "inaccurate_reasons": loads(row["reasons"]),
        "feedback_content": row["content"] or None,
        "user_id": row["user_id"] or None,
        "session_id": row["session_id"] or None,
        "message_id": row["message_id"] or None,
        "stream_id": row["stream_id"] or None,
        "run_id": row["run_id"] or None,
        "agent_id": row["agent_id"] or None,
        "bot_id": row["bot_id"] or None,
        "conversation_id": row["conversation_id"] or None,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }

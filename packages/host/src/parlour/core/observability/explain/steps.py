"""Converts stored rows to steps of an explanation, one function per kind of row, without side effects."""

from dataclasses import field
from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Row
from parlour_sdk.values import dataclass

from .texts import DELIVERY_KIND_NAMES, ExplanationSentence, code_or_default

MIN_REPORTED_WAIT_MILLISECONDS = 1000
"""Milliseconds from which the time an event waited for its run is mentioned."""


@dataclass(frozen=True, slots=True)
class ExplanationStep:
    """One step of the way of an event, with its outcome."""

    at: int
    step: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)
    sentences: tuple[ExplanationSentence, ...] = ()
    """The sentences of the text, for translation."""


def _step(at: int, step: str, data: dict[str, Any], *sentences: ExplanationSentence) -> ExplanationStep:
    return ExplanationStep(at, step, " ".join(each.text for each in sentences), data, sentences)


def received_step(event: Row) -> ExplanationStep:
    sender = event["actor_name"] or event["actor_id"]
    code = "received_by_bot" if event["bot_id"] else "received" if sender else "received_from_nobody"
    values = {name: event[name] for name in ("event_type", "source", "seq")}
    names = {"who": sender or "nobody in particular", "bot": event["bot_id"]}
    data = {"event_id": event["event_id"], "seq": event["seq"], "conversation_id": event["conversation_id"]}
    return _step(event["created_at"], "received", data, ExplanationSentence(code, {**values, **names}))


def note_step(entry: Row) -> ExplanationStep:
    data = loads(entry["data"])
    if data.get("hooks"):
        return _step(entry["created_at"], entry["step"], {"hooks": data["hooks"]}, *_hook_sentences(data))
    if data.get("checks"):
        return _step(entry["created_at"], entry["step"], {"checks": data["checks"]}, *_filter_sentences(data))
    code = "duplicate" if entry["step"] == "duplicate" else "noted"
    return _step(
        entry["created_at"], entry["step"], data, ExplanationSentence(code, {"text": str(data.get("text", ""))})
    )


def pending_step(inbox: Row, now: int) -> ExplanationStep:
    data = {"state": inbox["state"], "attempts": inbox["attempts"]}
    values = {"run": inbox["run_id"], "text": str(inbox["state"])}
    return _step(now, "owed", data, ExplanationSentence(code_or_default(f"owed_{inbox['state']}", "noted"), values))


def run_start_step(run: Row, event: Row) -> ExplanationStep:
    if run["rerun_of"]:
        return _rerun_step(run)
    route, waited_milliseconds = loads(run["metadata"]).get("route"), run["created_at"] - event["created_at"]
    code = "run" + ("_after" if run["parent_run_id"] else "") + ("_by" if route else "")
    values = {**_run_values(run), "attempt": run["attempt"], "before": run["parent_run_id"], "route": route}
    wait_sentences = (
        [ExplanationSentence("waited", {"seconds": f"{waited_milliseconds / 1000:.1f}"})]
        if waited_milliseconds >= MIN_REPORTED_WAIT_MILLISECONDS
        else []
    )
    ids = {"run_id": run["run_id"], "agent_id": run["agent_id"]}
    data = {**ids, "waited_ms": waited_milliseconds, "authorization": loads(run["snapshot"])}
    return _step(run["created_at"], "run", data, ExplanationSentence(code, values), *wait_sentences)


def _rerun_step(run: Row) -> ExplanationStep:
    data = {"run_id": run["run_id"], "rerun_of": run["rerun_of"]}
    return _step(
        run["created_at"], "rerun", data, ExplanationSentence("rerun", {**_run_values(run), "before": run["rerun_of"]})
    )


def _run_values(run: Row) -> dict[str, Any]:
    return {"run": run["run_id"], "agent": run["agent_id"], "runner": run["runner_id"]}


def grant_step(run: Row) -> ExplanationStep:
    snapshot = loads(run["snapshot"])
    kinds = [f"{len(names)} {kind.replace('_', ' ')}" for kind, names in snapshot.get("resources", {}).items()]
    names = ", ".join([*snapshot.get("apis", ()), *kinds])
    sentence = ExplanationSentence("granted" if names else "granted_nothing", {"names": names})
    return _step(run["created_at"], "grants", {"run_id": run["run_id"], **snapshot}, sentence)


def run_end_step(run: Row) -> ExplanationStep:
    status, seconds = run["status"], (run["finished_at"] - run["started_at"]) / 1000
    reason_text = f": {run['error'] or run['status_reason']}" if status != "completed" else ""
    values = {"run": run["run_id"], "status": status, "seconds": f"{seconds:.1f}", "reason": reason_text}
    extra_sentences = [] if run["shown"] or run["rerun_of"] else [ExplanationSentence("not_shown")]
    sentences = [ExplanationSentence(code_or_default(f"ended_{status}", "ended"), values), *extra_sentences]
    return _step(run["finished_at"], "run.ended", {"run_id": run["run_id"], "status": status}, *sentences)


def denial_step(entry: Row) -> ExplanationStep:
    values = {name: entry[name] for name in ("action", "resource", "code")}
    sentence = ExplanationSentence("denied_on" if entry["resource"] else "denied", values)
    return _step(entry["created_at"], "denied", {"action": entry["action"], "code": entry["code"]}, sentence)


def run_event_step(run_event: Row) -> ExplanationStep | None:
    """Returns the step of a run event about a model, a tool, an action, steering or a failure; None for other types."""
    data = loads(run_event["data"])
    if run_event["type"] == "hook.asked":
        return _step(run_event["created_at"], "hooks", data, *_hook_sentences(data))
    if run_event["type"] == "policy.filtered" and data.get("checks"):
        return _step(run_event["created_at"], "policy.filtered", data, *_filter_sentences(data))
    sentence = _run_event_sentence(run_event["type"], data)
    return _step(run_event["created_at"], run_event["type"], data, sentence) if sentence is not None else None


def _run_event_sentence(kind: str, data: dict[str, Any]) -> ExplanationSentence | None:
    match kind:
        case "model.called" if data.get("given"):
            values = {**data["given"], "model": data.get("model") or data.get("name")}
            failure = "" if data.get("outcome") == "answered" else f": {data.get('outcome')}"
            return ExplanationSentence("model_failed" if failure else "model_given", {**values, "reason": failure})
        case "tool.call.started":
            return ExplanationSentence("tool", {"tool": data.get("tool_name")})
        case "tool.call.completed" if data.get("error"):
            return ExplanationSentence("tool_failed", {"tool": data.get("tool_name")})
        case "knowledge.retrieved":
            return _retrieval_sentence(data)
        case "steering.queued":
            return ExplanationSentence("steering_queued", {"event": data.get("source_event_id")})
        case "steering.injected" | "steering.dropped":
            return ExplanationSentence(kind.replace(".", "_"))
        case "action.decided" if data.get("status") in ("begun", "pending", "refused"):  # denials come from the audit
            values = {"action": data.get("action"), "reason": f": {data.get('message')}"}
            return ExplanationSentence(f"action_{data['status']}", values)
        case "run.failed":
            return ExplanationSentence("runner_failed", {"error": data.get("error")})
        case _:
            return None


def _hook_sentences(data: dict[str, Any]) -> list[ExplanationSentence]:
    """Returns one sentence for each plugin that was asked on the path of the message."""
    return [
        ExplanationSentence(
            code_or_default(f"hook_{answer['code']}", "hook_passed"),
            {"plugin": answer["plugin"], "reason": f": {answer['reason']}" if answer.get("reason") else ""},
        )
        for answer in data["hooks"]
    ]


def _filter_sentences(data: dict[str, Any]) -> list[ExplanationSentence]:
    """Returns one sentence for each filter that asked a model or a plugin."""
    return [
        ExplanationSentence(
            code_or_default(f"filter_{each['code']}", "filter_nothing"),
            {name: each[name] for name in ("side", "position", "use", "detail")},
        )
        for each in data["checks"]
    ]


def _retrieval_sentence(data: dict[str, Any]) -> ExplanationSentence:
    """Names the files of the passages that a search found."""
    passages = data.get("passages", [])
    names = list(dict.fromkeys(str(passage.get("file_name")) for passage in passages))
    values = {"base": data.get("kb_id"), "count": len(passages), "names": ", ".join(names)}
    if data.get("as_of") == "gone":
        return ExplanationSentence("retrieved_gone", values)
    return ExplanationSentence("retrieved" if passages else "retrieved_nothing", values)


def approval_step(approval: Row) -> ExplanationStep:
    """Returns the step of an approval that was decided by a person or expired."""
    reason = f": {approval['reason']}" if approval["reason"] else ""
    values = {"who": approval["decided_by"].removeprefix("user:"), "action": approval["action"], "reason": reason}
    data = {"approval_id": approval["approval_id"], "status": approval["status"]}
    return _step(
        approval["decided_at"], "approval", data, ExplanationSentence(f"approval_{approval['status']}", values)
    )


def delivery_step(outbox_row: Row) -> ExplanationStep:
    state, kind = outbox_row["state"], outbox_row["kind"]
    values = {
        "kind": kind,
        "what": DELIVERY_KIND_NAMES.get(kind, "Something"),
        "where": outbox_row["surface"],
        "state": state,
    }
    state_code = "again" if state == "pending" and outbox_row["reason"] else state
    sentences = [
        ExplanationSentence(
            code_or_default(f"delivery_{state_code}", "delivery"), {**values, "reason": outbox_row["reason"]}
        )
    ]
    if outbox_row["attempts"] > 1:
        sentences.append(ExplanationSentence("tries", {"tries": outbox_row["attempts"]}))
    if outbox_row["possibly_repeated"]:
        sentences.append(ExplanationSentence("twice"))
    reply = loads(outbox_row["payload"]).get("reply", {})
    if reply.get("pushed"):
        sentences.append(ExplanationSentence("reply_pushed"))
    elif reply.get("number"):
        sentences.append(ExplanationSentence("reply_counted", {"number": reply["number"]}))
    data = {
        "outbox_id": outbox_row["outbox_id"],
        "state": state,
        "platform_message_id": outbox_row["platform_message_id"] or None,
        "attempts": outbox_row["attempts"],
    }
    return _step(outbox_row["updated_at"], "delivery", data, *sentences)


def outcome_step(outcome: Row) -> ExplanationStep:
    reason = f": {outcome['reason']}" if outcome["reason"] else ""
    code = code_or_default(f"settled_{outcome['outcome']}", "settled")
    sentence = ExplanationSentence(code, {"outcome": outcome["outcome"], "reason": reason})
    return _step(outcome["decided_at"], "settled", {"outcome": outcome["outcome"]}, sentence)

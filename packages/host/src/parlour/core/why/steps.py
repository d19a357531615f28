"""One step of a trail, from the facts of each kind. Pure."""

from dataclasses import dataclass, field
from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Row

SLOW_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class Step:
    at: int
    step: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)


def received(event: Row) -> Step:
    bot = f" on bot {event['bot_id']}" if event["bot_id"] else ""
    who = event["actor_name"] or event["actor_id"] or "nobody in particular"
    what = f"{event['event_type']} came from {event['source']}{bot}"
    text = f"{what}, by {who}; it was new and got number {event['seq']}."
    data = {"event_id": event["event_id"], "seq": event["seq"], "conversation_id": event["conversation_id"]}
    return Step(event["created_at"], "received", text, data)


def noted(entry: Row) -> Step:
    data = loads(entry["data"])
    texts = {"duplicate": "The platform delivered it again; that was recognized and had no effect."}
    return Step(entry["created_at"], entry["step"], texts.get(entry["step"], str(data.get("text", ""))), data)


def owed(inbox: Row, now: int) -> Step:
    texts = {
        "owed": "It waits for its turn.",
        "running": f"Run {inbox['run_id']} is at work on it.",
        "claimed": f"It waits to be taken in by run {inbox['run_id']}, which was active when it came.",
        "control": "It is an instruction to the Host, which is being carried out.",
        "injected": f"Run {inbox['run_id']}, which was active when it came, took it in.",
    }
    data = {"state": inbox["state"], "attempts": inbox["attempts"]}
    return Step(now, "owed", texts.get(inbox["state"], str(inbox["state"])), data)


def opened(run: Row, event: Row) -> Step:
    if run["rerun_of"]:
        return _repeated_run(run)
    metadata, waited = loads(run["metadata"]), run["created_at"] - event["created_at"]
    route = f", by {metadata['route']}" if metadata.get("route") else ""
    late = f" It had waited {waited / 1000:.1f} s for its turn." if waited >= SLOW_MILLISECONDS else ""
    attempt = f"attempt {run['attempt']}" + (f" after run {run['parent_run_id']}" if run["parent_run_id"] else "")
    text = f"Run {run['run_id']} ({attempt}) began with agent {run['agent_id']} on {run['runner_id']}{route}.{late}"
    data = {"run_id": run["run_id"], "waited_ms": waited, "authorization": loads(run["snapshot"])}
    return Step(run["created_at"], "run", text, data)


def _repeated_run(run: Row) -> Step:
    what = f"A person had run {run['rerun_of']} done again as run {run['run_id']}"
    text = f"{what}, with agent {run['agent_id']} on {run['runner_id']}; nothing of it was delivered."
    return Step(run["created_at"], "rerun", text, {"run_id": run["run_id"], "rerun_of": run["rerun_of"]})


def granted(run: Row) -> Step:
    snapshot = loads(run["snapshot"])
    kinds = [f"{len(names)} {kind.replace('_', ' ')}" for kind, names in snapshot.get("resources", {}).items()]
    listed = ", ".join([*snapshot.get("apis", ()), *kinds]) or "nothing of the Host's"
    return Step(run["created_at"], "grants", f"It was granted {listed}.", {"run_id": run["run_id"], **snapshot})


def ended(run: Row) -> Step:
    took = (run["finished_at"] - run["started_at"]) / 1000
    why = f": {run['error'] or run['status_reason']}" if run["status"] != "completed" else ""
    shown = "" if run["shown"] or run["rerun_of"] else " Nothing of it had been shown."
    text = f"Run {run['run_id']} {run['status']} after {took:.1f} s{why}.{shown}"
    return Step(run["finished_at"], "run.ended", text, {"run_id": run["run_id"], "status": run["status"]})


def denied(entry: Row) -> Step:
    of = f" on '{entry['resource']}'" if entry["resource"] else ""
    text = f"The run asked for {entry['action']}{of} and was refused: {entry['code']}."
    return Step(entry["created_at"], "denied", text, {"action": entry["action"], "code": entry["code"]})


def fact(run_event: Row) -> Step | None:
    """Of the ledger, what explains: tools, steering, failures."""
    data = loads(run_event["data"])
    match run_event["type"]:
        case "tool.call.started":
            text = f"It used the tool {data.get('tool_name')}."
        case "tool.call.completed" if data.get("error"):
            text = f"The tool {data.get('tool_name')} failed."
        case "steering.queued":
            text = f"Event {data.get('source_event_id')} came while it ran and was put into its queue."
        case "steering.injected":
            text = "It took in what had come meanwhile."
        case "steering.dropped":
            text = "What it had not taken in went back to be answered on its own."
        case "action.decided":
            why = f": {data['message']}" if data.get("message") else ""
            text = f"It asked for {data.get('action', 'an action')}, which is {data.get('status')}{why}."
        case "approval.decided":
            text = f"Its approval {data.get('approval_id')} is {data.get('status')}, by {data.get('decided_by')}."
        case "run.failed":
            text = f"The runner said that it failed: {data.get('error')}."
        case _:
            return None
    return Step(run_event["created_at"], run_event["type"], text, data)


def delivered(outgoing: Row) -> Step:
    kinds = {"message": "A reply", "notice": "A notice", "approval": "A question to a person", "action": "An action"}
    what = kinds.get(outgoing["kind"], "Something")
    where = f"to {outgoing['surface']}"
    states = {
        "pending": f"waits to be sent {where}",
        "streaming": f"is being shown as it grows {where}",
        "sending": f"was handed {where}, which has not answered yet",
        "sent": f"was sent {where}",
        "failed": f"could not be sent {where}: {outgoing['reason']}",
        "expired": f"was not sent {where} in time: {outgoing['reason']}",
    }
    twice = " It may have been shown twice: whether the first try arrived is not known." if _repeated(outgoing) else ""
    retried = f" That took {outgoing['attempts']} tries." if outgoing["attempts"] > 1 else ""
    data = {
        "outbox_id": outgoing["outbox_id"],
        "state": outgoing["state"],
        "platform_message_id": outgoing["platform_message_id"] or None,
        "attempts": outgoing["attempts"],
    }
    text = f"{what} {states.get(outgoing['state'], outgoing['state'])}.{retried}{twice}"
    return Step(outgoing["updated_at"], "delivery", text, data)


def settled(outcome: Row) -> Step:
    reason = f": {outcome['reason']}" if outcome["reason"] else ""
    texts = {
        "answered": "It was answered",
        "silent": "The agent chose to say nothing",
        "cancelled": "A person cancelled it",
        "dropped": "Nobody was to answer it",
        "handled": "Plugins that listen handled it",
        "handed": "It was handed to a webhook",
        "limited": "It was one too many",
        "control": "It was an instruction to the Host and acted at once",
        "misconfigured": "It could not be answered",
        "quarantined": "It was set aside and will not be tried again",
        "expired": "It was too old to be answered when its turn came",
        "failed": "It was not answered",
    }
    text = texts.get(outcome["outcome"], f"It ended as {outcome['outcome']}")
    return Step(outcome["decided_at"], "settled", f"{text}{reason}.", {"outcome": outcome["outcome"]})


def _repeated(outgoing: Row) -> bool:
    return bool(outgoing["possibly_repeated"])

"""Tests runs and their calls as exported spans."""

from uuid import UUID

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from parlour.core.encoding import dumps
from parlour.core.journal import Insert, Unit, Update, where
from parlour.core.store.tables import RUN_EVENTS, RUNS
from parlour.providers.tracing import trace_to

RUN = "01a1e22a-6102-709f-996d-ca3dbfe96881"
STARTED_AT = 1_800_000_000_000


def opened() -> Unit:
    row = {"run_id": RUN, "status": "running", "agent_id": "agent", "conversation_id": "talk", "event_id": "event"}
    return Unit(
        "run.open", (Insert(RUNS, {**row, "runner_id": "plugin:a/b/c", "bot_id": "", "created_at": STARTED_AT}),)
    )


def called(kind: str, name: str, outcome: str, **usage: int) -> Unit:
    data = dumps({"name": name, "outcome": outcome, "milliseconds": 200, "usage": usage})
    row = {"run_id": RUN, "type": f"{kind}.called", "data": data, "created_at": STARTED_AT + 500}
    return Unit("run.progress", (Insert(RUN_EVENTS, row),))


def ended(status: str, reason: str = "") -> Unit:
    usage = dumps({"prompt_tokens": 12, "completion_tokens": 3})
    values = {"status": status, "status_reason": reason, "usage": usage, "finished_at": STARTED_AT + 900}
    return Unit("run.end", (Update(RUNS, values, where(run_id=RUN)),))


def spans(*units: Unit):  # type: ignore[no-untyped-def]
    exporter = InMemorySpanExporter()
    with trace_to(exporter, "1") as traces:
        for unit in units:
            traces.on_commit(unit)
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_run_is_a_trace_with_its_calls_as_child_spans() -> None:
    found = spans(
        opened(),
        called("model", "gpt", "answered", prompt_tokens=12, completion_tokens=3),
        called("tool", "time.now", "answered"),
        ended("completed"),
    )

    root, model, tool = found["invoke_agent plugin:a/b/c"], found["chat gpt"], found["execute_tool time.now"]
    assert root.context.trace_id == UUID(RUN).int
    assert model.parent.span_id == tool.parent.span_id == root.context.span_id
    assert (root.start_time, root.end_time) == (STARTED_AT * 10**6, (STARTED_AT + 900) * 10**6)
    assert (model.start_time, model.end_time) == ((STARTED_AT + 300) * 10**6, (STARTED_AT + 500) * 10**6)
    assert model.attributes["gen_ai.operation.name"] == "chat"
    assert model.attributes["gen_ai.request.model"] == "gpt"
    assert root.attributes["gen_ai.usage.input_tokens"] == model.attributes["gen_ai.usage.input_tokens"] == 12
    assert root.status.status_code is not StatusCode.ERROR


def test_failed_runs_and_calls_have_an_error_status() -> None:
    found = spans(opened(), called("model", "gpt", "model.rate_limited"), ended("failed", "runner.crashed"))

    assert found["chat gpt"].status.status_code is StatusCode.ERROR
    assert found["chat gpt"].attributes["error.type"] == "model.rate_limited"
    assert found["invoke_agent plugin:a/b/c"].status.description == "runner.crashed"

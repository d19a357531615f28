"""Exports runs, model calls and tool calls as OpenTelemetry spans with the conventions for generative AI.

Spans are derived from committed units, so that no other code has to create them; they contain no message content.
OpenTelemetry is imported only if the settings name an endpoint.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from parlour.core.encoding import loads
from parlour.core.journal import Insert, Unit
from parlour.core.model.ids import RunId
from parlour.core.observability.live_events import LiveEvent, derive_live_events
from parlour.core.store.tables import RUN_EVENTS

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

NANOSECONDS_PER_MILLISECOND = 1_000_000
"""Nanoseconds in a millisecond."""
MAX_OPEN_SPANS = 10_000
END_STATES = frozenset(("completed", "failed", "cancelled", "timeout"))
PROVIDERS = {"gemini": "gcp.gemini", "xai": "x_ai", "moonshot": "moonshot_ai"}
"""OpenTelemetry's names of providers that differ from the kinds of the catalogue."""
OPERATIONS = {"model.called": "chat", "tool.called": "execute_tool"}


class TracingMissing(Exception):
    """telemetry.endpoint is set, and the packages for it are not installed: pip install 'parlour[telemetry]'."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


class TraceObserver:
    """Observer of the journal that creates spans.

    The trace id of a run is its run id, which runners receive as `trace_id`.
    """

    def __init__(self, provider: "TracerProvider", ids: "RunIds") -> None:
        self._tracer = provider.get_tracer("parlour")
        self._ids = ids
        self._open: dict[str, Span] = {}

    def on_commit(self, unit: Unit) -> None:
        for statement in unit.statements:
            if isinstance(statement, Insert) and statement.table is RUN_EVENTS:
                self._record_call(statement)
        for event in derive_live_events(unit):
            if event.kind == "run":
                self._run(event)

    def _run(self, run: LiveEvent) -> None:
        if "created_at" in run.public_values:
            self._begin(run)
        if run.state in END_STATES:
            self._end(run)

    def _begin(self, run: LiveEvent) -> None:
        if len(self._open) >= MAX_OPEN_SPANS:
            self._open.pop(next(iter(self._open))).end()
        values = run.public_values
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": str(values["agent_id"]),
            "gen_ai.conversation.id": str(values["conversation_id"]),
            "parlour.run_id": run.id,
            "parlour.event_id": str(values["event_id"]),
            "parlour.runner_id": str(values["runner_id"]),
        }
        with self._ids.for_run(RunId(run.id)):
            self._open[run.id] = self._tracer.start_span(
                f"invoke_agent {values['runner_id']}",
                attributes=attributes,
                start_time=int(values["created_at"]) * NANOSECONDS_PER_MILLISECOND,
            )

    def _end(self, run: LiveEvent) -> None:
        from opentelemetry.trace import Status, StatusCode

        span = self._open.pop(run.id, None)
        if span is None:
            return
        span.set_attribute("parlour.run.status", run.state)
        span.set_attributes(_usage(loads(str(run.public_values.get("usage") or "{}"))))
        if run.state != "completed":
            span.set_status(Status(StatusCode.ERROR, str(run.public_values.get("status_reason", ""))))
        finished_at = run.public_values.get("finished_at") or run.public_values.get("updated_at")
        span.end(int(finished_at) * NANOSECONDS_PER_MILLISECOND if finished_at else None)

    def _record_call(self, event: Insert) -> None:
        """Creates the span of a finished model or tool call."""
        from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

        operation = OPERATIONS.get(str(event.values["type"]))
        parent = self._open.get(str(event.values["run_id"]))
        if operation is None or parent is None:
            return
        data = loads(str(event.values["data"]))
        finished_at = int(str(event.values["created_at"]))
        name = data.get("model") or data["name"]
        name_attribute = "gen_ai.request.model" if operation == "chat" else "gen_ai.tool.name"
        attributes = {"gen_ai.operation.name": operation, name_attribute: name, **_usage(data.get("usage", {}))}
        if data.get("provider"):
            attributes["gen_ai.provider.name"] = PROVIDERS.get(data["provider"], data["provider"])
        span = self._tracer.start_span(
            f"{operation} {name}",
            context=set_span_in_context(parent),
            kind=SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL,
            attributes=attributes,
            start_time=(finished_at - data.get("milliseconds", 0)) * NANOSECONDS_PER_MILLISECOND,
        )
        if data["outcome"] != "answered":
            span.set_attribute("error.type", data["outcome"])
            span.set_status(Status(StatusCode.ERROR, data["outcome"]))
        span.end(finished_at * NANOSECONDS_PER_MILLISECOND)


class RunIds:
    """Generates ids like OpenTelemetry, except that the trace of a run gets the run's id."""

    def __init__(self) -> None:
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

        self._random = RandomIdGenerator()
        self._run: int | None = None

    @contextmanager
    def for_run(self, run_id: RunId) -> Iterator[None]:
        self._run = UUID(run_id).int
        try:
            yield
        finally:
            self._run = None

    def generate_span_id(self) -> int:
        return self._random.generate_span_id()

    def generate_trace_id(self) -> int:
        return self._run or self._random.generate_trace_id()

    def is_trace_id_random(self) -> bool:
        return False


def _usage(data: dict[str, Any]) -> dict[str, int]:
    names = {
        "prompt_tokens": "gen_ai.usage.input_tokens",
        "completion_tokens": "gen_ai.usage.output_tokens",
        "cost_micros": "parlour.cost_micros",
    }
    return {names[name]: value for name, value in data.items() if name in names and isinstance(value, int)}


@contextmanager
def export_traces(endpoint: str, headers: dict[str, str], version: str) -> Iterator[TraceObserver]:
    """Sends traces to an endpoint from a separate thread. Raises TracingMissing."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ModuleNotFoundError as error:
        raise TracingMissing from error
    with trace_to(OTLPSpanExporter(endpoint=endpoint, headers=headers, timeout=3), version) as traces:
        yield traces


@contextmanager
def trace_to(exporter: "SpanExporter", version: str) -> Iterator[TraceObserver]:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    ids = RunIds()
    resource = Resource.create({"service.name": "parlour", "service.version": version})
    provider = TracerProvider(resource=resource, id_generator=ids, shutdown_on_exit=False)  # type: ignore[arg-type]
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=1000))
    try:
        yield TraceObserver(provider, ids)
    finally:
        provider.shutdown()

"""Endpoint `/metrics` in the Prometheus text format."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from fastapi import APIRouter, Response

from parlour.core.observability.metrics import Metrics, Sample

from ..api_router import ApiRouter
from ..auth import Viewer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
HELP = {
    "parlour_events_total": "Events that were accepted",
    "parlour_runs_total": "Runs that have ended",
    "parlour_outcomes_total": "Events by how they ended",
    "parlour_policy_decisions_total": "Decisions of message policies that are noted on an event, by code",
    "parlour_hooks_total": "Answers of plugins on the path of a message, by event and code",
    "parlour_deliveries_total": "Messages that reached the end of the outbox",
    "parlour_denials_total": "Calls of plugins that were refused",
    "parlour_prompt_tokens_total": "Tokens that models were given",
    "parlour_completion_tokens_total": "Tokens that models gave",
    "parlour_cost_micros_total": "Cost of models in millionths of the currency",
    "parlour_unpriced_calls_total": "Calls of models whose price nobody knows; their cost comes on top",
    "parlour_model_calls_total": "Calls of models",
    "parlour_tool_calls_total": "Calls of tools",
    "parlour_run_seconds": "How long runs took from their event to their end",
    "parlour_plugins": "Plugins by how they are doing",
    "parlour_bots": "Bots by how they are doing",
    "parlour_platform_bots": "Bots by platform and by how they are doing",
    "parlour_platform_events_total": "Events that bots reported, by platform; repeated ones count again",
    "parlour_platform_sends_total": "Sends by platform and result: accepted, refused or unacknowledged",
    "parlour_platform_disconnects_total": "Bots that lost the connection to their platform, by platform",
    "parlour_refused_connections_total": "Connections that were refused or cut, by reason",
    "parlour_throttled_logins_total": "Logins that were refused before the password was looked at, by reason",
    "parlour_door_requests_total": "Requests to doors, by door and result: accepted, repeated, or why refused",
    "parlour_knowledge_jobs_total": "Attempts of background work on knowledge bases, by task and outcome",
    "parlour_knowledge_stage_seconds": "How long stages of files and searches of knowledge bases took, by outcome",
    "parlour_box_call_seconds": "How long calls to the Box took, by action and outcome",
    "parlour_box_commands_total": "Commands that ran in the Box, by how they ended and what stopped them",
    "parlour_connections": "Connections that are open",
    "parlour_active_runs": "Runs that are active",
    "parlour_workers": "Workers that are registered and heard of",
    "parlour_remote_runs": "Runs that wait for a worker or are held by one, by status",
    "parlour_remote_wait_seconds": "How long runs waited for a worker process that claimed them",
    "parlour_cluster_parts": "Parts that this Host owns, by kind",
    "parlour_cluster_taken_parts_total": "Parts that this Host has taken, by kind",
    "parlour_cluster_take_seconds": "How long it took to continue the work of parts that were taken, by kind",
    "parlour_relayed_requests_total": "Requests about parts of other Hosts: passed on, answered here, or unreachable",
    "parlour_resident_memory_bytes": "Memory of the Host's own process",
}

Gauges = Callable[[], Iterable[Sample]]


def router(measurements: Metrics, gauges: Gauges) -> APIRouter:
    routes = ApiRouter(prefix="", tags=["health"])

    @routes.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def read_metrics(principal: Viewer) -> Response:
        """Figures since the start, for Prometheus; give its scraper a key with the scope viewer."""
        samples = [*measurements.samples(), *gauges(), Sample("parlour_resident_memory_bytes", (), _memory())]
        return Response(format_samples(samples), media_type=CONTENT_TYPE)

    return routes


def format_samples(samples: Iterable[Sample]) -> str:
    """Formats samples in the Prometheus text format."""
    return "\n".join(_lines(samples)) + "\n"


def _lines(samples: Iterable[Sample]) -> Iterator[str]:
    described: set[str] = set()
    for sample in samples:
        family = sample.name
        for suffix in ("_bucket", "_sum", "_count"):
            if family.removesuffix(suffix) in HELP:
                family = family.removesuffix(suffix)
        if family not in described:
            described.add(family)
            kind = "histogram" if family != sample.name else "counter" if family.endswith("_total") else "gauge"
            yield f"# HELP {family} {HELP[family]}"
            yield f"# TYPE {family} {kind}"
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels)
        yield f"{sample.name}{'{' + labels + '}' if labels else ''} {_number(sample.value)}"


def _number(value: float) -> str:
    """Formats a value without loss: digits for a whole number, otherwise the shortest text that reads back the same."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return pages * 4096

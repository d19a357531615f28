"""Tests that traces of a real Host arrive at a collector, and that a missing collector has no effect."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from parlour.testing.model_server import ModelServer
from tests.integration.conftest import MakeHost
from tests.support.commands import parlour_here
from tests.support.harness import ECHO_PLUGIN, Host, eventually
from tests.support.scripted_models import LOCAL, LOCAL_PLUGIN


@contextmanager
def collector(status: int = 200) -> Iterator[tuple[str, list[tuple[str, ExportTraceServiceRequest]]]]:
    """Runs a collector of OTLP over HTTP that stores each body with its authorization. It yields its base address."""
    received: list[tuple[str, ExportTraceServiceRequest]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            received.append((self.headers["authorization"], ExportTraceServiceRequest.FromString(content)))
            self.send_response(status if self.path == "/v1/traces" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()


def test_a_run_arrives_as_a_trace_with_the_runs_id(make_host: MakeHost) -> None:
    with collector() as (endpoint, received):
        settings = {"ENDPOINT": endpoint, "HEADERS": "authorization=Bearer abc"}
        host = make_host(ECHO_PLUGIN, **{f"PARLOUR__TELEMETRY__{name}": value for name, value in settings.items()})
        host.start()
        run_id = host.ask(host.agent(), "hello")["run"]["run_id"]
        eventually(lambda: received, "a trace arrives", 30)
        host.stop()

    authorization, request = received[0]
    [span] = [each for scope in request.resource_spans[0].scope_spans for each in scope.spans]
    assert authorization == "Bearer abc"
    assert span.trace_id.hex() == run_id.replace("-", "")
    assert span.name == "invoke_agent plugin:parlour/echo-agent/default"
    assert "hello" not in str(request), "traces have no message texts"


def test_a_model_call_has_the_models_name_and_its_provider(tmp_path: Path) -> None:
    with collector() as (endpoint, received), ModelServer() as server:
        addresses = "127.0.0.1/32"
        host = Host(tmp_path, PARLOUR__TELEMETRY__ENDPOINT=f"{endpoint}/", PARLOUR__TOOLS__ALLOWED_ADDRESSES=addresses)
        host.install(LOCAL_PLUGIN)
        host.start()
        model_id = configured_model(host, server)
        config = {"model": {"primary": model_id, "fallbacks": []}, "prompt": "Be kind."}
        host.ask(host.agent(LOCAL, config=config), "hello")
        [span] = eventually(lambda: [each for each in spans(received) if each.name.startswith("chat")], "a call", 30)
        host.close()
    attributes = {each.key: each.value.string_value for each in span.attributes}
    assert span.name == "chat gpt-test"
    assert attributes["gen_ai.request.model"] == "gpt-test"
    assert attributes["gen_ai.provider.name"] == "openai"


def configured_model(host: Host, server: ModelServer) -> str:
    """Returns the id of a model behind the server."""
    provider = {"name": "Ours", "kind": "openai", "base_url": f"{server.address}/v1", "api_keys": ["sk-test"]}
    made = host.http().post("/model-providers", json=provider)
    assert made.status_code == 201, made.text
    model = {"provider_id": made.json()["provider_id"], "name": "gpt-test", "type": "llm"}
    added = host.http().post("/models", json=model)
    assert added.status_code == 201, added.text
    return str(added.json()["model_id"])


def spans(received: list[tuple[str, ExportTraceServiceRequest]]) -> list[Span]:
    resources = [each for _, request in received for each in request.resource_spans]
    return [span for each in resources for scope in each.scope_spans for span in scope.spans]


@pytest.mark.parametrize(("status", "expected"), [(200, "takes traces"), (401, "refuses traces with status 401")])
def test_doctor_checks_the_collector(tmp_path: Path, status: int, expected: str) -> None:
    with collector(status) as (endpoint, received):
        settings = {"PARLOUR__TELEMETRY__ENDPOINT": endpoint, "PARLOUR__TELEMETRY__HEADERS": "authorization=Bearer abc"}
        finished = parlour_here("doctor", "--data", tmp_path / "data", "--port", 0, environment=settings)
    [line] = [each for each in finished.stdout.splitlines() if each[9:].startswith("telemetry")]
    assert expected in line
    assert [authorization for authorization, _ in received] == ["Bearer abc"]
    assert "abc" not in finished.stdout


def test_doctor_counts_its_warnings(tmp_path: Path) -> None:
    settings = {"PARLOUR__TELEMETRY__ENDPOINT": "http://127.0.0.1:1"}
    finished = parlour_here("doctor", "--data", tmp_path / "data", "--port", 0, environment=settings)
    warnings = sum(line.startswith("warning") for line in finished.stdout.splitlines())
    expected = "1 warning" if warnings == 1 else f"{warnings} warnings"
    assert "can't be reached" in finished.stdout
    assert (finished.returncode, finished.stdout.splitlines()[-1]) == (0, expected)


@pytest.mark.long
def test_a_missing_collector_does_not_affect_runs(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN, PARLOUR__TELEMETRY__ENDPOINT="http://127.0.0.1:1/v1/traces").start()

    assert host.ask(host.agent(), "hello")["run"]["status"] == "completed"
    host.stop(10)

"""Traces of a real Host arrive at a collector, and a collector that is not there harms nobody."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from .conftest import MakeHost
from .harness import ECHO_PLUGIN, eventually


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, ExportTraceServiceRequest]]]]:
    """Takes OTLP over HTTP and keeps what came, each with its authorization."""
    received: list[tuple[str, ExportTraceServiceRequest]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            received.append((self.headers["authorization"], ExportTraceServiceRequest.FromString(content)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", received
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
    assert "hello" not in str(request), "what was said is nobody's there"


@pytest.mark.long
def test_a_collector_that_is_not_there_harms_nobody(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN, PARLOUR__TELEMETRY__ENDPOINT="http://127.0.0.1:1/v1/traces").start()

    assert host.ask(host.agent(), "hello")["run"]["status"] == "completed"
    host.stop(10)

"""Checks the address to listen on, the programs that plugins need, the trace collector and a standalone runtime."""

import asyncio
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from parlour.app.data_directory import DataDirectory
from parlour.app.process_tuning import connections_within_file_limit
from parlour.app.settings import HostSettings, TelemetrySettings
from parlour.core.addresses import authority
from parlour.plugin_runtime.environments import uv
from parlour.plugin_runtime.process.sandbox import choose_launcher

from .finding import Finding, ok, problem, warning

RUNTIME_SECONDS = 5.0
"""Seconds to wait for a connection to the standalone plugin runtime."""
COLLECTOR_SECONDS = 5.0
"""Seconds to wait for an answer of the trace collector."""


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    yield _address(settings)
    yield _connections(settings)
    if settings.telemetry.endpoint:
        yield await _collector(settings.telemetry)
    if settings.runtime.url:
        yield await _runtime(settings.runtime.url)
        return
    yield await _sandbox(settings)
    yield _uv(settings)


def _address(settings: HostSettings) -> Finding:
    host, port = settings.http.host, settings.http.port
    serving = DataDirectory(settings.data).serving_pid()
    if serving is not None:
        return ok("address", f"a Host serves this data directory (process {serving})")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        remedy = "stop what uses it, or choose another with --host and --port or the settings http.host and http.port"
        return problem("address", f"{authority(host, port)} can't be listened on: {error.strerror}", remedy)
    return ok("address", f"{authority(host, port)} is free")


async def _collector(telemetry: TelemetrySettings) -> Finding:
    """Sends an empty report, which a collector accepts. Only host and path of the address are shown."""
    from aiohttp import ClientError, ClientSession, ClientTimeout

    url = telemetry.traces_url
    parts = urlsplit(url)
    address = f"{authority(parts.hostname or '', parts.port)}{parts.path}"
    headers = {**telemetry.sent_headers, "content-type": "application/x-protobuf"}
    remedy = "correct telemetry.endpoint and telemetry.headers; traces are lost until then, and nothing else is"
    try:
        async with (
            ClientSession(timeout=ClientTimeout(total=COLLECTOR_SECONDS)) as session,
            session.post(url, data=b"", headers=headers, allow_redirects=False) as response,
        ):
            status = response.status
    except (ClientError, OSError, TimeoutError, ValueError) as error:
        return warning("telemetry", f"the collector at {address} can't be reached ({type(error).__name__})", remedy)
    if status >= 300:
        return warning("telemetry", f"the collector at {address} refuses traces with status {status}", remedy)
    return ok("telemetry", f"the collector at {address} takes traces")


def _connections(settings: HostSettings) -> Finding:
    configured = settings.http.connections
    possible = connections_within_file_limit(configured)
    if possible < configured:
        message = f"{possible} of {configured} connections fit: the limit of open files is low"
        return ok("address", f"{message}; raise it (ulimit -n, LimitNOFILE=) for more")
    return ok("address", f"{configured} connections fit")


async def _runtime(url: str) -> Finding:
    """Checks only whether the port accepts connections: the token is left to the Host."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "wss" else 80)
    try:
        async with asyncio.timeout(RUNTIME_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError) as error:
        message = f"nobody listens at {authority(parts.hostname or '', port)} ({error or 'no answer'})"
        return problem("runtime", message, "start it with parlour runtime, or correct runtime.url")
    writer.close()
    return ok("runtime", f"somebody listens at {authority(parts.hostname or '', port)}")


async def _sandbox(settings: HostSettings) -> Finding:
    _, state = await choose_launcher(settings.plugins.sandbox, settings.plugins.bubblewrap, ())
    if state.kind != "none":
        if state.unfiltered:
            message = f"plugins run in {state.kind}, without a system call filter: {state.unfiltered}"
            return warning("sandbox", message, "use a kernel with seccomp, on x86_64, aarch64 or riscv64, to have it")
        return ok("sandbox", f"plugins run in {state.kind}, with a system call filter (seccomp)")
    severity = problem if state.required else warning
    return severity("sandbox", state.notice.partition(";")[0], state.remedy)


def _uv(settings: HostSettings) -> Finding:
    try:
        program = uv.find_uv(settings.plugins.uv)
    except uv.UvMissing as missing:
        return warning("plugins", "uv, which installs what plugins require, is not here", str(missing))
    return ok("plugins", f"{program} installs what plugins require")

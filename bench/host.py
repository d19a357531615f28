"""A real Host in its own process, set up through its command line, and the resource use of its processes."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import psutil

from .environment import REPOSITORY

PARLOUR = Path(sys.executable).with_name("parlour")
ECHO_AGENT = REPOSITORY / "plugins" / "echo-agent"
ECHO, LOCAL = "echo-agent", "local-agent"
"""Plugins by the names of their folders; local-agent is in every fresh install."""
READY_SECONDS = 30
STOP_SECONDS = 15

Settings = Mapping[str, str]
"""Settings by the names of their environment variables."""
DEFAULTS: Settings = {}


class Unmeasurable(Exception):
    """Raised when a precondition of a measurement does not hold."""


@dataclass(slots=True)
class Host:
    process: subprocess.Popen[bytes]
    port: int
    key: str
    ready_seconds: float
    """Seconds from exec to the first 200 of /readyz."""

    def make_agent(self, plugin: str = ECHO, config: Mapping[str, Any] | None = None) -> str:
        runner = {"runner_id": f"plugin:parlour/{plugin}/default", "runner_config": config or {}}
        return str(self.request("POST", "/api/v1/agents", {"name": "bench", **runner})["agent_id"])

    def request(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.status >= 400:
            raise Unmeasurable(f"{method} {path} answered {response.status}: {content[:300]!r}")
        return json.loads(content)


def install(data: Path, settings: Settings = DEFAULTS) -> str:
    """Creates a data directory with echo-agent and a database; returns an API key."""
    _command(settings, "plugin", "install", str(ECHO_AGENT), "--data", str(data))
    return new_key(data, settings)


def new_key(data: Path, settings: Settings = DEFAULTS) -> str:
    return _command(settings, "keys", "create", "--name", "bench", "--data", str(data)).strip()


@contextmanager
def running(data: Path, key: str, settings: Settings = DEFAULTS) -> Iterator[Host]:
    """Runs a Host until the block ends; it is killed if it does not stop by itself."""
    started = time.perf_counter()
    with (data.parent / f"{data.name}.log").open("ab") as log:
        process = subprocess.Popen(
            [PARLOUR, "serve", "--data", data, "--port", "0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=_environment(settings),
            start_new_session=True,  # only the benchmark gets Ctrl-C; it stops the Host itself
        )
    try:
        try:
            port = _announced_port(process)
            _await_ready(process, port)
        except (OSError, ValueError, TimeoutError) as error:
            raise Unmeasurable(f"the Host did not become ready ({error}); {_last_words(data)}") from error
        yield Host(process, port, key, time.perf_counter() - started)
    finally:
        _stop(process)


def plugin_process(host: Host, plugin: str) -> psutil.Process:
    for child in psutil.Process(host.process.pid).children(recursive=True):  # a sandbox process may be in between
        started = child.cmdline()
        if started[1:3] == ["-m", "parlour_sdk.worker"] and plugin in started[3]:
            return child
    raise Unmeasurable(f"the Host has no process of {plugin}")


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of a span of time; `database` is a separate database server, `machine` everything that ran on the
    machine."""

    host: float
    plugin: float
    database: float
    client: float
    machine: float


class Meter:
    """Measures CPU and memory of the Host, its plugins, its database server and this process."""

    def __init__(self, host: Host, database_seconds: Callable[[], float] = lambda: 0.0, plugin: str = ECHO) -> None:
        self._host = psutil.Process(host.process.pid)
        self._plugin = plugin_process(host, plugin)
        self._database_seconds = database_seconds
        self._start_values = self._now()

    def restart(self) -> None:
        self._start_values = self._now()

    def cost(self) -> Cost:
        pairs = zip(astuple(self._now()), astuple(self._start_values), strict=True)
        return Cost(*(now - before for now, before in pairs))

    def host_mb(self) -> float:
        return float(self._host.memory_info().rss) / 1e6

    def plugin_mb(self) -> float:
        return float(self._plugin.memory_info().rss) / 1e6

    def tree_mb(self) -> float:
        """Returns the memory of the Host and all its child processes."""
        every = (self._host, *self._host.children(recursive=True))
        return sum(float(process.memory_info().rss) for process in every) / 1e6

    def _now(self) -> Cost:
        host, plugin = self._host.cpu_times(), self._plugin.cpu_times()
        machine = psutil.cpu_times()
        busy = sum(machine) - machine.idle - getattr(machine, "iowait", 0.0)
        return Cost(
            host.user + host.system,
            plugin.user + plugin.system,
            self._database_seconds(),
            time.process_time(),
            busy,
        )


def _command(settings: Settings, *arguments: str) -> str:
    result = subprocess.run(
        [PARLOUR, *arguments], capture_output=True, text=True, env=_environment(settings), timeout=60
    )
    if result.returncode:
        raise Unmeasurable(f"parlour {' '.join(arguments[:2])} failed: {result.stderr.strip()[-500:]}")
    return result.stdout


def _environment(settings: Settings) -> dict[str, str]:
    """Returns the environment of the Host: default settings, except those that the benchmark sets."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PARLOUR__")}
    return {**inherited, **settings}


def _announced_port(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline().decode().strip().rpartition(":")[2].rstrip("/"))


def _await_ready(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.perf_counter() + READY_SECONDS
    while time.perf_counter() < deadline:
        if process.poll() is not None:
            raise ValueError(f"exit status {process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=READY_SECONDS)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        finally:
            connection.close()
        time.sleep(0.005)
    raise TimeoutError(f"not ready after {READY_SECONDS} s")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stops the Host. Its plugins run in their own sessions and exit with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    finally:
        if process.stdout is not None:
            process.stdout.close()


def _last_words(data: Path) -> str:
    log = (data.parent / f"{data.name}.log").read_text(errors="replace").strip()
    return f"its log ends with: {log[-500:]}"

"""Starts, calls and stops real Hosts. The tests decide which answers are right."""

import signal
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil

from .commands import PARLOUR, clean_environment, parlour_here
from .contract import check_response
from .starting import Process, start

ROOT = Path(__file__).parents[2]
ECHO_PLUGIN = ROOT / "plugins" / "echo-agent"
PUPPET_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "puppet-agent"
ECHO = "plugin:parlour/echo-agent/default"
PUPPET = "plugin:test/puppet-agent/default"
CLAIMING_PUPPET = "plugin:test/puppet-agent/claiming"

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""TLS context for clients of plain addresses; without it each client reads all certificate authorities first."""

NO_RUN_LIMITS = {"PARLOUR__RUNS__PER_SENDER_PER_MINUTE": 0, "PARLOUR__RUNS__PER_CONVERSATION_PER_MINUTE": 0}
"""Settings of a Host whose few senders send more messages in a minute than people do."""
Value = TypeVar("Value")
Json = dict[str, Any]


def eventually(look: Callable[[], Value], what: str, seconds: float = 30) -> Value:
    """Returns the value of `look` as soon as it is true. It polls less often after a while, because
    polling takes time too.
    """
    started_at = time.monotonic()
    while not (seen := look()):
        waited = time.monotonic() - started_at
        assert waited < seconds, f"not within {seconds:g} s: {what}"
        time.sleep(min(0.01 + waited / 20, 0.05))
    return seen


def processes_below(folder: Path) -> list[psutil.Process]:
    """Returns every process that names this folder on its command line: a Host by its data, a plugin by its place in
    it.

    A zombie process has no command line any more.
    """
    name = str(folder)
    processes = psutil.process_iter(["cmdline"])
    return [each for each in processes if any(name in word for word in each.info["cmdline"] or ())]


class Host:
    """Runs `parlour serve` on a data directory. It can be stopped and started again."""

    def __init__(self, folder: Path, **environment: object) -> None:
        self.data = folder / "data"
        self.home = self.data
        """The folder that contains the plugins."""
        self._environment = {name: str(value) for name, value in environment.items()}
        self._output = folder / "output.txt"
        self._log = folder / "log.txt"
        self._keys: dict[tuple[str, str], str] = {}
        self._clients: dict[str, httpx.Client] = {}
        self._process: Process | None = None
        self.address = ""

    @property
    def process(self) -> psutil.Process:
        assert self._process is not None, "the Host was not started"
        return psutil.Process(self._process.pid)

    @property
    def parent(self) -> psutil.Process:
        """Returns the parent process of the plugins' processes."""
        return self.process

    def install(self, source: Path, *options: str) -> None:
        finished = parlour_here("plugin", "install", source, "--data", self.home, *options)
        assert finished.returncode == 0, finished.stderr

    def start(self) -> "Host":
        self.begin()
        return self.wait_until_ready()

    def begin(self) -> None:
        with self._output.open("wb") as output, self._log.open("ab") as log:
            self._process = start(self._command(), clean_environment(self._environment), output, log)

    def _command(self) -> list[str]:
        return [str(PARLOUR), "serve", "--data", str(self.data), "--port", "0"]

    def wait_until_ready(self) -> "Host":
        self.wait_until_announced()
        eventually(self.is_ready, "the Host is ready", 60)
        return self

    def wait_until_announced(self) -> None:
        line = eventually(self._announcement, "the Host prints its address", 60)
        self.address = line.splitlines()[0].removeprefix("Parlour is at ")

    def _announcement(self) -> str:
        assert self._process is not None
        assert self._process.poll() is None, self.log()
        text = self._output.read_text()
        return text if text.endswith("\n") else ""

    def is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log()
        return httpx.get(f"{self.address}/readyz", timeout=5, verify=NO_TLS).status_code == 200

    def stop(self, seconds: float = 30) -> None:
        """Ends the Host as its operator does. It must exit with 0 and leave no process behind;
        quiet tests check how soon.
        """
        assert self._process is not None
        self._forget_clients()
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(seconds)
        self._process = None
        assert status == 0, self.log()
        assert processes_below(self.data) == []
        assert "Traceback" not in self.log()

    def kill(self) -> None:
        assert self._process is not None
        self._forget_clients()
        self._process.kill()
        self._process.wait(5)
        self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        if self._process is None:
            return
        try:
            self.stop()
        finally:
            for process in processes_below(self.data):
                process.kill()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def exit_status(self, seconds: float = 30) -> int:
        """Waits for the Host to end by itself, and returns its status."""
        assert self._process is not None
        self._forget_clients()
        status = self._process.wait(seconds)
        self._process = None
        return status

    def leftovers(self) -> list[psutil.Process]:
        """Returns the processes that name the Host's data on their command line."""
        return processes_below(self.data)

    def log(self) -> str:
        return self._log.read_text()

    def printed(self) -> list[str]:
        """Returns the lines on the standard output of the Host."""
        return self._output.read_text().splitlines()

    def key(self, scope: str = "admin", name: str = "") -> str:
        if (scope, name) not in self._keys:
            words = ("keys", "create", "--name", name or scope, "--scope", scope, "--data", self.data)
            made = parlour_here(*words, environment=self._environment)
            assert made.returncode == 0, made.stderr
            self._keys[scope, name] = made.stdout.strip()
        return self._keys[scope, name]

    def http(self, key: str | None = None) -> httpx.Client:
        """Returns a client that sends this key, by default an admin's, and checks every response
        against the document.
        """
        key = self.key() if key is None else key
        if key not in self._clients:
            self._clients[key] = httpx.Client(
                base_url=f"{self.address}/api/v1",
                headers=bearer(key),
                timeout=30,
                verify=NO_TLS,
                event_hooks={"response": [check_response]},
            )
        return self._clients[key]

    def async_http(self, key: str | None = None) -> httpx.AsyncClient:
        key = self.key() if key is None else key
        limits = httpx.Limits(max_connections=None)
        base = f"{self.address}/api/v1"
        return httpx.AsyncClient(base_url=base, headers=bearer(key), timeout=30, limits=limits, verify=NO_TLS)

    def _forget_clients(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def agent(self, runner_id: str = ECHO, name: str = "tester", **fields: Any) -> str:
        """Creates an agent and returns its id. `config` is the configuration of its runner."""
        config = fields.pop("config", {})
        body = {"name": name, "runner_id": runner_id, "runner_config": config, **fields}
        made = self.http().post("/agents", json=body)
        assert made.status_code == 201, made.text
        return str(made.json()["agent_id"])

    def check(self, runner_id: str, config: Json, agent_id: str | None = None) -> Json:
        """Lets the runner test a configuration."""
        body = {"runner_id": runner_id, "runner_config": config, "agent_id": agent_id}
        answer = self.http().post("/agents/test", json=body)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def send(self, agent_id: str, text: str, key: str | None = None, **fields: Any) -> Json:
        """Injects a message and returns at once."""
        answer = self.http(key).post("/events", json=message(agent_id, text, **fields))
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def ask(self, agent_id: str, text: str, key: str | None = None, **fields: Any) -> Json:
        """Injects a message and waits for its result."""
        answer = self.http(key).post("/events?wait=result", json=message(agent_id, text, **fields))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def items(self, path: str, key: str | None = None, **parameters: Any) -> list[Json]:
        """Returns a whole list, read page by page."""
        found: list[Json] = []
        cursor: dict[str, str] = {}
        while True:
            answer = self.http(key).get(path, params={"limit": 100, **parameters, **cursor})
            assert answer.status_code == 200, answer.text
            page = answer.json()
            found += page["items"]
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}

    def run(self, run_id: str) -> Json:
        answer = self.http().get(f"/runs/{run_id}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def active_run(self, agent_id: str) -> str:
        """Returns the id of this agent's run as soon as it is running."""
        found = eventually(lambda: self.items("/runs", agent_id=agent_id, status="running"), "a run is active")
        return str(found[0]["run_id"])

    def transcript(self, conversation_id: str) -> list[tuple[str, str]]:
        """Returns the entries of a transcript: (role or notice, text)."""
        items = self.items(f"/conversations/{conversation_id}/transcript")
        return [(_speaker(item), item["content"]) for item in items]

    def plugin_status(self, plugin_id: str) -> str:
        runners = self.http().get("/runners").json()["items"]
        return next((each["plugin"]["status"] for each in runners if each["plugin"]["id"] == plugin_id), "")

    def plugin_process(self, plugin_id: str) -> psutil.Process:
        """Returns the plugin's process as the Host knows it, as soon as there is one."""
        folder = self.home / "plugins" / plugin_id
        return eventually(lambda: processes_below(folder), f"{plugin_id} has a process")[0]

    def shared_file(self, name: str, plugin_id: str = "test/puppet-agent") -> Path:
        """Returns a path that both a test and a plugin see: in the plugin's own folder, the only
        one that it may write to.
        """
        return self.home / "plugin-data" / plugin_id / name


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def message(agent_id: str, text: str, **fields: Any) -> Json:
    return {"agent_id": agent_id, "input": {"text": text}, **fields}


def texts(result: Json) -> list[str]:
    return [each["content"] for each in result["messages"]]


def error_code(answer: httpx.Response) -> str:
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["message"]
    return str(error["code"])


def named_fields(answer: httpx.Response) -> list[str]:
    """Returns the fields that a validation error names."""
    assert error_code(answer) in ("invalid_argument", "unknown_runner")
    return [each["field"] for each in answer.json()["error"]["details"]["fields"]]


def _speaker(item: Json) -> str:
    return "notice" if item["item_type"] == "notice" else str(item["role"])

"""Starts and stops real workers of a Host. Each has a data directory with plugins of its own."""

import json
import signal
from pathlib import Path
from typing import Any

import psutil

from .commands import PARLOUR, clean_environment, parlour_here
from .harness import PUPPET_PLUGIN, Host, eventually, processes_below
from .starting import Process, start


class Worker:
    """Runs `parlour worker` for a Host. It can be stopped and started again under the same name."""

    def __init__(self, folder: Path, name: str, url: str, key: str, **settings: object) -> None:
        self.name = name
        self.data = folder / name
        self._settings = {"NAME": name, "URL": url, "TOKEN": key, "LEASE_SECONDS": 2, "DRAIN_SECONDS": 3, **settings}
        self._output = folder / f"{name}-output.txt"
        self._log = folder / f"{name}-log.txt"
        self._process: Process | None = None

    @property
    def process(self) -> psutil.Process:
        assert self._process is not None, "the worker was not started"
        return psutil.Process(self._process.pid)

    def install(self, source: Path = PUPPET_PLUGIN) -> "Worker":
        finished = parlour_here("plugin", "install", source, "--data", self.data)
        assert finished.returncode == 0, finished.stderr
        return self

    def start(self) -> "Worker":
        self.begin()
        eventually(self._is_announced, "the worker says that it serves the Host", 60)
        return self

    def begin(self) -> None:
        environment = {f"PARLOUR__WORKER__{name}": _text(value) for name, value in self._settings.items()}
        with self._output.open("wb") as output, self._log.open("ab") as log:
            command = [str(PARLOUR), "worker", "--data", str(self.data)]
            self._process = start(command, clean_environment(environment), output, log)

    def _is_announced(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log()
        return self._output.read_text().endswith("\n")

    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def exit_status(self, seconds: float = 30) -> int:
        """Returns the status with which the worker ends by itself."""
        assert self._process is not None
        status = self._process.wait(seconds)
        self._process = None
        return status

    def terminate(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        self.terminate()
        status = self.exit_status()
        assert status == 0, self.log()
        assert processes_below(self.data) == []
        assert "Traceback" not in self.log()

    def kill(self) -> None:
        """Kills it like a lost machine: with its plugins."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(5)
        self._process = None
        for process in processes_below(self.data):
            process.kill()

    def pause(self) -> None:
        """Stops it and its plugins as a machine that is suspended."""
        for process in self._family():
            process.suspend()

    def resume(self) -> None:
        for process in reversed(self._family()):
            process.resume()

    def close(self) -> None:
        if self._process is not None:
            self.kill()

    def shared_file(self, name: str, plugin_id: str = "test/puppet-agent") -> Path:
        """Returns a path that both a test and a plugin of this worker see."""
        return self.data / "plugin-data" / plugin_id / name

    def _family(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]


def worker_key(host: Host, labels: list[str] | None = None, runners: list[str] | None = None) -> dict[str, Any]:
    """Creates an API key for workers. Returns it with its secret as `key`."""
    body = {"name": "workers", "scope": "worker", "labels": labels or [], "runners": runners or []}
    made = host.http().post("/api-keys", json=body)
    assert made.status_code == 201, made.text
    return dict(made.json())


def runtime(host: Host, name: str) -> dict[str, Any]:
    """Returns a worker as the Host knows it; empty if it does not."""
    return next((each for each in host.items("/runtimes") if each["runtime_id"] == name), {})


def finished_run(host: Host, run_id: str) -> dict[str, Any]:
    """Returns a run once it is over; empty before."""
    run = host.run(run_id)
    return run if run["finished_at"] else {}


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, list) else str(value)

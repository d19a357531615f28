"""Provides a prepared data directory, copied for each crash, and Hosts that are started, killed and started again."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.crash.platform import People
from tests.support.commands import PARLOUR, parlour_here
from tests.support.starting import Process, start

ROOT = Path(__file__).parents[2]
RUNNER = "plugin:parlour/echo-agent/default"


@dataclass
class Prepared:
    data: Path
    key: str
    echo: str
    holding: str
    remembering: str


@dataclass
class RestartableHost:
    """Represents a Host on one data directory, across the processes that serve it one after the other."""

    data: Path
    port: int
    platform_port: int
    agent_id: str
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, point: str = "") -> Process:
        command = [sys.executable, "-m", "parlour.testing.faulty_host", str(self.data), str(self.port)]
        command += [str(self.platform_port), self.agent_id] + ([point] if point else [])
        with (self.data / "host.log").open("ab") as log:
            process = start(command, {**os.environ, **self.environment}, log, log)
        self.processes.append(process)
        return process

    async def ready(self, seconds: float = 60) -> None:
        async with asyncio.timeout(seconds):
            while not await asyncio.to_thread(_answers, f"{self.url}/readyz"):
                await asyncio.sleep(0.02)

    async def died(self, process: Process, seconds: float) -> bool:
        try:
            await asyncio.to_thread(process.wait, seconds)
        except subprocess.TimeoutExpired:
            return False
        return process.returncode == -signal.SIGKILL

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                assert process.wait(30) == 0


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def parlour(environment: dict[str, str], *arguments: str) -> str:
    done = parlour_here(*arguments, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(tmp_path_factory.mktemp("prepared"), {})


def prepare(data: Path, environment: dict[str, str]) -> Prepared:
    key = parlour(environment, "keys", "create", "--name", "crash", "--data", str(data))
    parlour(environment, "plugin", "install", str(ROOT / "plugins/echo-agent"), "--data", str(data))
    port = free_port()
    command = [str(PARLOUR), "serve", "--data", str(data), "--port", str(port)]
    bare = {**os.environ, "PARLOUR__PLUGINS__BUNDLED": "false", **environment}
    with open(os.devnull, "wb") as nowhere:
        host = start(command, bare, nowhere, nowhere)
    url = f"http://127.0.0.1:{port}"
    asyncio.run(RestartableHost(data, port, 0, "").ready())

    def agent(name: str, **config: Any) -> str:
        body = json.dumps({"name": name, "runner_id": RUNNER, "runner_config": config}).encode()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/api/v1/agents", body, headers)
        with urllib.request.urlopen(request) as answer:
            return str(json.load(answer)["agent_id"])

    echo, holding, remembering = (
        agent("echo"),
        agent("holding", hold_ms=300, delay_ms=5),
        agent("remembering", remember=True),
    )
    host.terminate()
    host.wait(30)
    return Prepared(data, key, echo, holding, remembering)


@pytest.fixture
async def people() -> AsyncIterator[People]:
    people = People()
    await people.open()
    yield people
    await people.close()


@pytest.fixture
async def restartable_host(prepared: Prepared, people: People, tmp_path: Path) -> AsyncIterator[RestartableHost]:
    data = tmp_path / "data"
    shutil.copytree(prepared.data, data)
    restartable_host = RestartableHost(data, free_port(), people.port, prepared.echo)
    yield restartable_host
    for process in restartable_host.processes:
        process.kill()
        process.wait()

"""Executes the README's five minutes and the bot of the performance page as written; only ports and folders differ."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from parlour.testing.onebot_simulator import Simulator, native

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"<!-- walkthrough: (?P<kind>\w+)(?: (?P<name>\S+))? -->\n```\w+\n(?P<code>.*?)```", re.DOTALL)


@dataclass
class Reader:
    """Represents a reader with a terminal in a copy of the repository's folder."""

    folder: Path
    port: int
    bot_port: int
    environment: dict[str, str] = field(default_factory=dict)
    background: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def do(self, kind: str, name: str | None, code: str) -> str:
        code = code.replace("5300", str(self.port)).replace("6700", str(self.bot_port))
        if kind == "file":
            assert name is not None
            (self.folder / name).write_text(code)
            return ""
        if kind == "background":
            command = f"exec {code.strip()} PORT={self.port}"
            log = (self.folder / "host.log").open("wb")
            host = subprocess.Popen(
                command, shell=True, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
            self.background.append(host)
            self._until_ready()
            return ""
        return self._shell(code)

    def _shell(self, code: str) -> str:
        """Runs a shell step. Exported variables stay for the next step, as in one terminal."""
        script = f"set -euo pipefail\n{code}\nexport -p > exported.sh\n"
        before = ". ./exported.sh\n" if (self.folder / "exported.sh").exists() else ""
        answer = subprocess.run(
            ["bash", "-c", before + script], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    def _until_ready(self) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=1):
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError((self.folder / "host.log").read_text())


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """Copies the repository's own files to a path with a space, with the existing environment."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    for name in (".venv", ".tools", "Makefile", "pyproject.toml", "uv.lock", "packages", "plugins", "tools"):
        os.symlink(ROOT / name, folder / name)
    with socket.socket() as probe, socket.socket() as other:
        for each in (probe, other):
            each.bind(("127.0.0.1", 0))
        reader = Reader(folder, probe.getsockname()[1], other.getsockname()[1])
    yield reader
    for process in reader.background:
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C in that terminal
        process.wait(10)
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)


def frames(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def kinds(output: str) -> list[object]:
    return [frame["type"] for frame in frames(output)]


def objects(output: str) -> list[Any]:
    """Returns the JSON objects that curl printed one after the other."""
    found, place = [], 0
    while place < len(output):
        each, place = json.JSONDecoder().raw_decode(output, place)
        found.append(each)
    return found


async def said_on_qq(port: int, text: str) -> str:
    simulator = Simulator(token="a token")
    async with simulator.connecting(f"ws://127.0.0.1:{port}/onebot/v11/ws"):
        await simulator.say([native.text(text)], 1)
        return (await simulator.answered(1))[0].text


def test_the_readme_does_what_it_says(reader: Reader) -> None:
    pages = (ROOT / "README.md", ROOT / "docs" / "performance.md")
    steps = [step for page in pages for step in STEP.finditer(page.read_text())]
    outputs = [reader.do(step["kind"], step["name"], step["code"]) for step in steps]
    start, key, agent, asked, script, streamed, cancelled, resumed, looked, own, bot = outputs
    assert start == script == ""
    assert "parlour/echo-agent" in key
    assert json.loads(agent)["runner_id"] == "plugin:parlour/echo-agent/default"
    quick, made, routes = objects(bot)
    assert (quick["runner_config"]["delay_ms"], quick["runner_config"]["hold_ms"]) == (0, 0)
    assert made["adapter"] == "onebot11"
    assert [route["handler_config"]["agent_id"] for route in routes["items"]] == [quick["agent_id"]]
    assert asyncio.run(said_on_qq(reader.bot_port, "hello, load")) == "hello, load"
    answer = json.loads(asked)
    assert answer["messages"][0]["content"] == "hello over there"
    assert answer["run"]["status"] == "completed"

    seen = frames(streamed)
    deltas = "".join(str(frame["content"]) for frame in seen if frame["type"] == "delta")
    messages = [frame["message"] for frame in seen if frame["type"] == "message"]
    assert kinds(streamed).count("delta") > 2
    assert messages == [{"role": "assistant", "content": "tell me a story\nand make it short"}]
    assert deltas == "tell me a story\nand make it short"

    assert frames(cancelled)[-1]["status"] == "cancelled"
    assert "message" not in kinds(cancelled)

    again = [frame["message"] for frame in frames(resumed) if frame["type"] == "message"]
    assert again[0] == messages[0]
    assert again[-1] == {"role": "assistant", "content": "one more, please"}
    assert "completed" in looked

    for line in ("4 passed", "Hello! Message 1 was: good morning", "the running Host has started it"):
        assert line in own

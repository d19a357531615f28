"""Reads a page of the documentation block by block and executes it, as a reader with a terminal would.

A comment above a block says its purpose: `file: NAME` is written, `shown: NAME` is the expected content of that file,
`typed: A | B` are lines typed into a command, `background` is left running. A `text` block after a command is its
output; a `python` block that is no file holds tests.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 90
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[a-z]+)(?:: (?P<value>[^\n]*))? -->\n)?```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.DOTALL | re.M,
)
SETTINGS = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    mark: str
    value: str


def blocks(page: Path) -> Iterator[Block]:
    for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(found["language"], found["code"], found["mark"] or "", found["value"] or "")


@dataclass
class Reader:
    folder: Path
    output: str = ""
    """The output of the last command."""
    seconds: list[float] = field(default_factory=list)
    """The seconds that each command took."""
    tests: list[Path] = field(default_factory=list)
    _hosts: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _port: int = field(default_factory=lambda: free_port())

    def do(self, block: Block) -> None:
        match block.mark, block.language:
            case "file", _:
                place = self.folder / block.value
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(block.code, encoding="utf-8")
            case "shown", _:
                assert (self.folder / block.value).read_text(encoding="utf-8") == block.code
            case "background", "sh":
                self._start(block.code)
            case (("typed" | ""), "sh"):
                self._run(block)
            case "", "text":
                self._compare(block.code)
            case "", "python":
                self._keep_test(block.code)
            case _:
                raise AssertionError(f"nobody runs this block: {block}")

    def run_tests(self) -> None:
        """Runs all tests of the page; each of them must be run."""
        if not self.tests:
            return
        if not (self.folder / "pyproject.toml").exists():
            (self.folder / "pytest.ini").write_text(SETTINGS)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, self.tests)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        written = sum(file.read_text().count("def test_") for file in self.tests)
        assert re.search(rf"^{written} passed", done.stdout, re.M), done.stdout + done.stderr

    def close(self) -> None:
        for host in self._hosts:
            host.send_signal(signal.SIGTERM)
            assert host.wait(20) == 0

    def _run(self, block: Block) -> None:
        started_at = time.monotonic()
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self._own(block.code)],
            cwd=self.folder,
            env=self._environment(),
            input="".join(f"{line.strip()}\n" for line in block.value.split("|")) if block.value else "",
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        self.seconds.append(time.monotonic() - started_at)
        assert done.returncode == 0, done.stdout + done.stderr
        self.output = done.stdout

    def _compare(self, expected: str) -> None:
        """Compares line by line. Typed lines are not printed, and a path may be longer than the page shows it."""
        for line in expected.splitlines():
            assert line.startswith("> ") or line in self.output, f"{line!r} is not in {self.output!r}"

    def _keep_test(self, code: str) -> None:
        assert "def test_" in code, f"this has no test: {code}"
        file = self.folder / f"test_block_{len(self.tests)}.py"
        file.write_text(code, encoding="utf-8")
        self.tests.append(file)

    def _start(self, code: str) -> None:
        log = self.folder / "host.log"
        with log.open("wb") as file:
            command = f"exec {code.strip()} --port {self._port}"
            host = subprocess.Popen(
                ["bash", "-c", command], cwd=self.folder, env=self._environment(), stdout=file, stderr=file
            )
        self._hosts.append(host)
        until = time.monotonic() + SECONDS
        while not self._is_ready():
            assert host.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/readyz", timeout=5):
                return True
        except OSError:
            return False

    def _own(self, code: str) -> str:
        """Replaces the port of the page by a free one."""
        return code.replace("5300", str(self._port))

    def _environment(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLOUR__")}
        downloads = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "uv")
        return {
            "UV_CACHE_DIR": str(downloads),
            **environment,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(self.folder / ".cache"),
        }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""Tests that a release is reproducible, and that its wheels alone make a Host that answers, wherever they are."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.harness import ROOT

UV = ROOT / ".tools" / "bin" / "uv"
BUBBLEWRAP = ROOT / ".tools" / "bubblewrap" / "usr" / "bin" / "bwrap"
FIRST_ANSWER_SECONDS = 60

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def run(*command: object, cwd: Path = ROOT, **environment: str) -> str:
    finished = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def release_of_a_clone(folder: Path) -> Path:
    clone = folder / "a clone"
    run("git", "clone", "--quiet", ROOT, clone)
    run("make", "release", cwd=clone)
    return clone / "dist"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with the release of a clean clone."""
    return release_of_a_clone(tmp_path_factory.mktemp("first"))


def test_two_clean_clones_make_the_same_files(release: Path, tmp_path: Path) -> None:
    again = release_of_a_clone(tmp_path)

    assert (again / "SHA256SUMS").read_text() == (release / "SHA256SUMS").read_text()
    run("sha256sum", "--check", "SHA256SUMS", cwd=release)


def test_the_wheels_alone_answer_the_first_message_within_a_minute(release: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    run(UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(UV, "pip", "install", "--quiet", "--python", python, *release.glob("*.whl"))
    parlour = tmp_path / "venv" / "bin" / "parlour"
    with serving([parlour, "--port", "0"], tmp_path) as address:
        answer = first_answer(address, parlour, tmp_path)

    assert "add a provider" in answer
    assert time.monotonic() - started < FIRST_ANSWER_SECONDS
    run(UV, "pip", "uninstall", "--quiet", "--python", python, "parlour", "parlour-sdk")
    assert not parlour.exists()
    assert (tmp_path / ".local" / "share" / "parlour" / "parlour.db").exists(), "the data stays"


def test_an_installation_at_a_shallow_path_serves(release: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    run(UV, "pip", "install", "--quiet", "--python", sys.executable, "--target", installed, *release.glob("*.whl"))
    roots = [path for path in Path("/").iterdir() if path.is_dir() and not path.is_symlink()]
    links = [word for path in Path("/").iterdir() if path.is_symlink() for word in ("--symlink", path.readlink(), path)]
    mounts = [word for path in roots if path.name != "p" for word in ("--dev-bind", path, path)]
    inside = [BUBBLEWRAP, "--die-with-parent", "--tmpfs", "/", *mounts, *links]
    command = [
        *inside,
        "--ro-bind",
        installed,
        "/p",
        "--setenv",
        "PYTHONPATH",
        "/p",
        sys.executable,
        "-m",
        "parlour.cli.main",
    ]

    assert "usage: parlour" in run(*command, "--help")
    with serving([*command, "--port", "0"], tmp_path) as address:
        assert httpx.get(f"{address}/", headers={"accept": "text/html"}).status_code == 200


@contextmanager
def serving(command: list[object], home: Path) -> Iterator[str]:
    """Runs a Host without a command, with its data in `home`, and yields its address."""
    environment = {**os.environ, "HOME": str(home)}
    environment.pop("XDG_DATA_HOME", None)
    process = subprocess.Popen([str(word) for word in command], cwd=home, env=environment, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        announced = process.stdout.readline().decode()
        assert announced.startswith("Parlour is at "), announced
        yield announced.removeprefix("Parlour is at ").strip()
    finally:
        process.terminate()
        assert process.wait(timeout=20) in (0, -signal.SIGTERM), "the latter is bubblewrap's"


def first_answer(address: str, parlour: Path, home: Path) -> str:
    data = home / ".local" / "share" / "parlour"
    key = run(parlour, "keys", "create", "--name", "test", "--data", data).strip()
    with httpx.Client(base_url=address, headers={"authorization": f"Bearer {key}"}, timeout=60) as client:
        while not (agents := client.get("/api/v1/agents").json()["items"]):
            assert client.get("/readyz").status_code in (200, 503)
        event = {
            "event_type": "message.received",
            "agent_id": agents[0]["agent_id"],
            "conversation_id": "first",
            "input": {"text": "hello"},
        }
        answered = client.post("/api/v1/events", params={"wait": "result", "timeout": 50}, json=event)
    assert answered.status_code == 200, answered.text
    return str(answered.json()["messages"])

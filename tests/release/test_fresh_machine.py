"""Runs the README's two commands as a stranger does: in a new clone, in a path with a space, as root and as a new user.

`make run` is run until its page answers, and the test prints how long that took. Of `make test`, only its set-up and a
small part of its tests are run.
"""

import os
import pwd
import re
import secrets
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from parlour.testing.network import free_port
from tests.support.harness import ROOT

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(3600)]

README = (ROOT / "README.md").read_text(encoding="utf-8")
RUN_SECONDS = 900
"""A limit far above the usual time, most of which is downloads."""
TEST_SECONDS = 2400
SMALL_PART = "tests/integration/http/test_versions.py packages/host/tests/core/routing"
OF_THE_CALLER = re.compile(r"(MAKE|MFLAGS|PARLOUR__|PYTEST|VIRTUAL_ENV|UV_|XDG_|PYTHON|PNPM|npm_)")


@dataclass
class Stranger:
    """A user who has nothing but a clone, and the programs that the README asks for."""

    name: str
    clone: Path
    environment: Mapping[str, str]

    def start(self, command: str) -> subprocess.Popen[str]:
        user = pwd.getpwnam(self.name)
        return subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.clone,
            env=dict(self.environment),
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


@pytest.fixture(params=["root", "a new user"])
def stranger(request: pytest.FixtureRequest) -> Iterator[Stranger]:
    """Yields a user with a clone at a path with a space; a new user is deleted afterwards."""
    name = "root" if request.param == "root" else f"parlour-{secrets.token_hex(4)}"
    place = Path("/srv" if Path("/srv").is_dir() else "/opt", f"some path with space {secrets.token_hex(4)}")
    home = place / "home"
    place.mkdir(mode=0o755)
    try:
        if name != "root":
            subprocess.run(["useradd", "--no-create-home", "--home-dir", home, name], check=True)
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", ROOT, place / "parlour"], check=True)
        subprocess.run(["chown", "-R", name, place], check=True)
        kept = {key: value for key, value in os.environ.items() if not OF_THE_CALLER.match(key)}
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        yield Stranger(name, place / "parlour", {**kept, "HOME": str(home), "USER": name, "PATH": path})
    finally:
        if name != "root":
            subprocess.run(["userdel", name], check=True)
        shutil.rmtree(place)


def command_of_the_readme(target: str) -> str:
    [command] = re.findall(rf"^(make {target})\s+# ", README, re.MULTILINE)
    return str(command)


def read_until(process: subprocess.Popen[str], words: str, seconds: float) -> str:
    assert process.stdout
    until, text = time.monotonic() + seconds, ""
    while words not in text:
        assert select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0], text
        read = os.read(process.stdout.fileno(), 65536).decode(errors="replace")
        assert read, text
        text += read
    return text


def test_the_two_commands_of_the_readme_work(stranger: Stranger, capsys: pytest.CaptureFixture[str]) -> None:
    port, started = free_port(), time.monotonic()
    host = stranger.start(f"exec {command_of_the_readme('run')} PORT={port}")
    try:
        printed = read_until(host, "Parlour is at http", RUN_SECONDS)
        page = httpx.get(f"http://127.0.0.1:{port}/", headers={"Accept": "text/html"}, timeout=60)
        seconds = time.monotonic() - started
        owner = os.stat(stranger.clone / "data" / "parlour.db").st_uid
    finally:
        os.killpg(host.pid, signal.SIGINT)
        host.wait(60)
    with capsys.disabled():
        sys.stdout.write(f"\nmake run as {stranger.name}: {seconds:.0f} s until the page answered\n")
    assert (page.status_code, "<script" in page.text) == (200, True), printed
    assert owner == pwd.getpwnam(stranger.name).pw_uid

    started = time.monotonic()
    part = f"QUIET_TESTS= WEB_TESTS=true ALL_TESTS='{SMALL_PART}' WORKERS=2"
    tested = stranger.start(f"exec {command_of_the_readme('test')} {part}")
    output, _ = tested.communicate(timeout=TEST_SECONDS)
    with capsys.disabled():
        sys.stdout.write(f"the set-up of make test and a part of it: {time.monotonic() - started:.0f} s\n")
    assert re.search(r"^\d+ passed", output, re.MULTILINE), output[-4000:]
    assert "failed" not in output

"""Tests that a replacement of the secrets' key can be killed at every step: each secret opens with exactly one of the
keys that are left, and the command completes the replacement.
"""

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from nacl.secret import SecretBox

from parlour.app.secret_key import FileSecretBox, SecretKeyFiles
from parlour.app.secret_rotation import MIN_SEALED_CHARACTERS
from parlour.core.encoding import loads
from tests.support.commands import parlour_here
from tests.support.harness import ECHO, ECHO_PLUGIN, ROOT, Host

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

WEBHOOKS = 3
MIN_STEPS = 20
"""Each webhook's secret is a commit, and there are some twelve operations on key files."""


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the data directory of a Host that stores some secrets."""
    host = Host(tmp_path_factory.mktemp("sealed"))
    host.install(ECHO_PLUGIN)
    host.start()
    try:
        agent = host.agent(ECHO, event_types=["api.invoked"])
        for number in range(WEBHOOKS):
            made = host.http().post("/webhooks", json={"name": f"alarm {number}", "agent_id": agent})
            assert made.status_code == 201, made.text
    finally:
        host.close()
    return host.data


def texts(value: object) -> Iterator[str]:
    """Yields the texts in a stored value, which may be JSON."""
    if isinstance(value, str):
        with suppress(ValueError):
            if value.startswith(("{", "[")):
                yield from texts(loads(value))
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts(each)


def secrets_in(data: Path) -> list[str]:
    """Returns all stored secrets. Fails if one opens with more than one of the keys."""
    boxes = [SecretBox(key) for key in SecretKeyFiles(data / "secret.key").read()]
    found = []
    with closing(sqlite3.connect(data / "parlour.db")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for name in names for row in connection.execute(f'SELECT * FROM "{name}"')]
    for text in (text for row in rows for value in row for text in texts(value)):
        if len(text) >= MIN_SEALED_CHARACTERS:
            opened = [secret for box in boxes if (secret := FileSecretBox._open(text, [box])) is not None]
            assert len(opened) <= 1, "a secret opens with exactly one key"
            found += opened
    return sorted(found)


def test_every_step_can_be_the_last_one(sealed: Path, tmp_path: Path) -> None:
    before, first_key = secrets_in(sealed), (sealed / "secret.key").read_bytes()
    assert len(before) >= WEBHOOKS
    step, status = 0, -signal.SIGKILL
    while status:
        step += 1
        data = tmp_path / str(step)
        shutil.copytree(sealed, data)
        command = [sys.executable, "-m", "tests.crash.key_rotation", str(data), str(step)]
        status = subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode
        assert status in (0, -signal.SIGKILL)
        assert secrets_in(data) == before, f"killed before step {step}"

        completed = parlour_here("secrets", "rotate", "--data", data)
        assert completed.returncode == 0, completed.stderr
        assert [path.name for path in sorted(data.glob("*secret.key*"))] == ["secret.key"]
        assert (data / "secret.key").read_bytes() != first_key
        assert secrets_in(data) == before, f"completed after step {step}"
    assert step > MIN_STEPS

"""A forked command is in all that matters what the same command in a process of its own is."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from .commands import clean_environment
from .harness import Json
from .starting import Process, fork, spawn

PROBE = [sys.executable, str(Path(__file__).with_name("probe.py")), "a word"]
ENVIRONMENT = clean_environment({"TZ": "Asia/Tokyo", "PARLOUR__MADE__UP": "as it was given"})


def told(starts: Callable[..., Process]) -> Json:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = starts(PROBE, ENVIRONMENT, output, errors)
        status = process.wait(60)
        for file in (output, errors):
            file.seek(0)
        assert (errors.read(), status) == (b"and complains\n", 3)
        return dict(json.load(output))


def test_it_has_what_it_was_given_and_nothing_else() -> None:
    assert told(fork)["alike"] == told(spawn)["alike"]


def test_two_of_them_share_neither_chance_nor_mark() -> None:
    first, second = told(fork)["own"], told(fork)["own"]

    assert not set(first) & set(second)


def test_it_can_be_waited_for_and_killed() -> None:
    with tempfile.TemporaryFile() as nowhere:
        process = fork([sys.executable, "-m", "http.server", "0"], ENVIRONMENT, nowhere, nowhere)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.kill()

        assert process.wait(30) == -signal.SIGKILL
        assert process.poll() == -signal.SIGKILL

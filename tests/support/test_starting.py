"""Tests that a forked command equals the same command in a process of its own in all that matters."""

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


def run_probe(starts: Callable[..., Process]) -> Json:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = starts(PROBE, ENVIRONMENT, output, errors)
        status = process.wait(60)
        for file in (output, errors):
            file.seek(0)
        assert (errors.read(), status) == (b"and complains\n", 3)
        return dict(json.load(output))


def test_a_forked_process_has_the_same_properties_as_a_spawned_one() -> None:
    assert run_probe(fork)["alike"] == run_probe(spawn)["alike"]


def test_two_forked_processes_share_neither_random_numbers_nor_ids() -> None:
    first, second = run_probe(fork)["own"], run_probe(fork)["own"]

    assert not set(first) & set(second)


def test_a_forked_process_can_be_waited_for_and_killed() -> None:
    with tempfile.TemporaryFile() as nowhere:
        process = fork([sys.executable, "-m", "http.server", "0"], ENVIRONMENT, nowhere, nowhere)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.kill()

        assert process.wait(30) == -signal.SIGKILL
        assert process.poll() == -signal.SIGKILL

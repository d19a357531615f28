"""Decides which tests share a worker, and prints how many cases the generated matrices have checked."""

import gc
import re
import sys

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# This ignores the environment, because rewriting the asserts of all files again in every worker takes longer than
# collecting their tests. Processes that tests start follow the environment.
sys.dont_write_bytecode = False

# Thousands of tests are a large heap that stays: collecting it again and again takes longer than many of the tests.
gc.disable()

# The time that an example takes shows how busy the machine is, not whether the code is right.
settings.register_profile("parlour", deadline=None)
settings.load_profile("parlour")

MATRICES = {"protocol_cases": "protocol matrix", "access_cases": "access matrix"}

SAME_WORKER = "tests/platforms/matrix/"
"""The tests of this folder share a homeserver with a slow start, so all of them have the same worker."""
PLATFORM_ROW = re.compile(r"tests/platforms/test_shared_suite\.py::.*\[(\w+)")
"""The rows of one platform share its bot, so all of them have the same worker; those of Matrix need the homeserver."""
ANY_WORKER = "tests/simulation/"
"""The tests of this folder share nothing and take long, so each goes to the next free worker."""


class ByServer(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(ANY_WORKER):
            return nodeid
        if row := PLATFORM_ROW.match(nodeid):
            return SAME_WORKER if row[1] == "matrix" else f"rows of {row[1]}"
        return SAME_WORKER if nodeid.startswith(SAME_WORKER) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return ByServer(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ended = [*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())]
    for counted, name in MATRICES.items():
        cases = sum(number for report in ended for key, number in report.user_properties if key == counted)
        if cases:
            terminalreporter.write_line(f"{name}: {cases:,} cases")

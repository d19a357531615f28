"""Which tests share a worker, and how many cases the generated matrices held against the code."""

import gc
import sys

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# Whatever the environment says: to rewrite the asserts of all files anew in every worker takes longer than to collect
# their tests. Processes that tests start keep to the environment.
sys.dont_write_bytecode = False

# Thousands of tests are a large heap that stays: to look through it again and again takes longer than many of them.
gc.disable()

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("parlour", deadline=None)
settings.load_profile("parlour")

MATRICES = {"protocol_cases": "protocol matrix", "access_cases": "access matrix"}

TOGETHER = "tests/matrix/"
"""Its tests share a homeserver, which takes its time to start: all of them have the same worker."""
APART = "tests/simulation/"
"""They share nothing, and take long: each goes where there is room."""


class ByServer(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(APART):
            return nodeid
        return TOGETHER if nodeid.startswith(TOGETHER) else super()._split_scope(nodeid)


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

"""Decides which tests share a worker, and prints where the time went and how many cases the matrices have checked."""

import gc
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# This ignores the environment, because rewriting the asserts of all files again in every worker takes longer than
# collecting their tests. Processes that tests start follow the environment.
sys.dont_write_bytecode = False

# Thousands of tests are a large heap that stays: collecting it again and again takes longer than many of the tests.
gc.disable()

# The time that an example takes shows how busy the machine is, not whether the code is right. `make test` tries the
# same examples each time, so that its result depends on the code alone; PARLOUR_HYPOTHESIS=random looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("PARLOUR_HYPOTHESIS", "same"))

FOR_ROOT = pytest.StashKey[int]()
MANY_TESTS = 1000
"""A run of at least so many tests ends with a table of times."""
MATRICES = {"protocol_cases": "protocol matrix", "access_cases": "access matrix"}

SAME_WORKER = "tests/platforms/matrix/"
"""The tests of this folder share a homeserver with a slow start, so all of them have the same worker."""
PLATFORM_ROW = re.compile(r"tests/platforms/test_shared_suite\.py::.*\[(\w+)")
"""The rows of one platform share its bot, so all of them have the same worker; those of Matrix need the homeserver."""
CONTAINERS = re.compile(r"tests/release/test_(image|played|deployment)")
"""These files share images that take minutes to build."""
ANY_WORKER = "tests/simulation/"
"""The tests of this folder share nothing and take long, so each goes to the next free worker."""


class ByServer(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(ANY_WORKER):
            return nodeid
        if CONTAINERS.match(nodeid):
            return "containers"
        if row := PLATFORM_ROW.match(nodeid):
            return SAME_WORKER if row[1] == "matrix" else f"rows of {row[1]}"
        return SAME_WORKER if nodeid.startswith(SAME_WORKER) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return ByServer(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests that need root where the user is another one; the summary says how many."""
    if os.geteuid() == 0:
        return
    for_root = [item for item in items if item.get_closest_marker("root")]
    if for_root:
        items[:] = [item for item in items if item not in for_root]
        config.hook.pytest_deselected(items=for_root)
        config.stash[FOR_ROOT] = len(for_root)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    stats = terminalreporter.stats
    if for_root := terminalreporter.config.stash.get(FOR_ROOT, 0):
        terminalreporter.write_line(f"{for_root} tests were left out, because they need root")
    ended: list[pytest.TestReport] = [*stats.get("passed", ()), *stats.get("failed", ())]
    if len(ended) >= MANY_TESTS:
        phases = [*ended, *stats.get("", ())]
        _write_times(terminalreporter, "seconds by area", _seconds(phases, _area))
        _write_times(terminalreporter, "seconds of the slowest files", _seconds(phases, _file))
    for counted, name in MATRICES.items():
        cases = sum(number for report in ended for key, number in report.user_properties if key == counted)
        if cases:
            terminalreporter.write_line(f"{name}: {cases:,} cases")


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _area(nodeid: str) -> str:
    """Returns the folder that groups a test: `tests/crash`, `packages/host/tests/core`, `plugins/local-agent`."""
    parts = _file(nodeid).split("/")[:-1]
    return "/".join(parts[: 4 if parts[0] == "packages" else 2])


def _seconds(reports: Iterable[pytest.TestReport], group: Callable[[str], str]) -> Counter[str]:
    """Adds up set-up, call and teardown of all tests; in parallel runs the sum exceeds the wall time."""
    seconds: Counter[str] = Counter()
    for report in reports:
        seconds[group(report.nodeid)] += report.duration
    return seconds


def _write_times(reporter: pytest.TerminalReporter, title: str, seconds: Counter[str]) -> None:
    reporter.write_line(f"{title}: " + ", ".join(f"{name} {each:.0f}" for name, each in seconds.most_common(10)))

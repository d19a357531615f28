"""Tells at the end of a test run how many cases the generated matrices held against the code."""

import sys

import pytest

# Whatever the environment says: to rewrite the asserts of all files anew in every worker takes longer than to collect
# their tests. Processes that tests start keep to the environment.
sys.dont_write_bytecode = False

MATRICES = {"protocol_cases": "protocol matrix", "access_cases": "access matrix"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ended = [*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())]
    for counted, name in MATRICES.items():
        cases = sum(number for report in ended for key, number in report.user_properties if key == counted)
        if cases:
            terminalreporter.write_line(f"{name}: {cases:,} cases")

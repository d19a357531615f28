"""Tells at the end of a test run how many cases the generated matrices held against the code."""

import pytest

MATRICES = {"protocol_cases": "protocol matrix", "access_cases": "access matrix"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ended = [*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())]
    for counted, name in MATRICES.items():
        cases = sum(number for report in ended for key, number in report.user_properties if key == counted)
        if cases:
            terminalreporter.write_line(f"{name}: {cases:,} cases")

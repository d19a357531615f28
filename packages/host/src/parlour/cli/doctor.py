"""`parlour doctor`: prints what is wrong and what to do. The exit status is 1 if there is a problem."""

import asyncio
import sys

from parlour.app.settings import HostSettings
from parlour.operations.doctor.checks import run_checks
from parlour.operations.doctor.finding import Finding


def run(settings: HostSettings) -> None:
    """Prints the findings and a summary."""
    findings = asyncio.run(_collect_findings(settings))
    problems = [finding for finding in findings if finding.state == "problem"]
    print(f"\n{_summary(len(problems), sum(finding.state == 'warning' for finding in findings))}")
    if problems:
        sys.exit(1)


def _summary(problems: int, warnings: int) -> str:
    counts = [(problems, "problem"), (warnings, "warning")]
    parts = [f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts if number]
    return " and ".join(parts) or "all is well"


async def _collect_findings(settings: HostSettings) -> list[Finding]:
    findings = []
    async for finding in run_checks(settings):
        print(finding, flush=True)
        findings.append(finding)
    return findings

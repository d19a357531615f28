"""`parlour doctor`: what is wrong and what to do, in words; its exit status says whether anything is."""

import asyncio
import sys

from parlour.config import Settings
from parlour.operations.doctor.examination import examine
from parlour.operations.doctor.finding import Finding


def run(settings: Settings) -> None:
    findings = asyncio.run(_examined(settings))
    problems = [finding for finding in findings if finding.state == "problem"]
    print(f"\n{len(problems)} to be put right" if problems else "\nall is well")
    if problems:
        sys.exit(1)


async def _examined(settings: Settings) -> list[Finding]:
    findings = []
    async for finding in examine(settings):
        print(finding, flush=True)
        findings.append(finding)
    return findings

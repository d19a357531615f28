"""Runs the rows of the shared adapter suite for every platform, on one Host.

`-k telegram` selects a platform and `-k redelivery` a row. The last test of each platform compares the rows that
passed with its evidence, from which the documentation is made.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.testing.adapter_suite import (
    BEHAVIOURS,
    AdapterBench,
    EvidenceLog,
    HostBench,
    PlatformDriver,
    Row,
    absence_key,
    rows_of,
)
from parlour.testing.evidence import Evidence
from tests.platforms.drivers import PLATFORMS
from tests.support.harness import ROOT, Host

EVIDENCE = ROOT / "docs" / "platforms" / "evidence"
in_module_loop = pytest.mark.asyncio(loop_scope="module")


class Suite:
    """Holds the started platforms and the outcomes of this module."""

    def __init__(self, host: Host, agent_id: str, request: pytest.FixtureRequest) -> None:
        self._host = host
        self._agent_id = agent_id
        self._request = request
        self._benches: dict[str, HostBench] = {}
        self._stack = AsyncExitStack()
        self.evidence = {name: EvidenceLog(Evidence(Path(EVIDENCE / f"{name}.json"))) for name in PLATFORMS}

    def driver(self, platform: str, mode: str = "") -> PlatformDriver:
        known = PLATFORMS[platform]
        driver: Any = known.other_modes[mode] if mode else known.driver
        made = driver(self._request.getfixturevalue(known.server_fixture)) if known.server_fixture else driver()
        assert isinstance(made, PlatformDriver)
        return made

    async def bench(self, platform: str) -> HostBench:
        if platform not in self._benches:
            running = HostBench.running(self._host, self.driver(platform), self._agent_id)
            self._benches[platform] = await self._stack.enter_async_context(running)
        return self._benches[platform]

    async def close(self) -> None:
        await self._stack.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(platform_host: Host, echo: str, request: pytest.FixtureRequest) -> AsyncIterator[Suite]:
    suite = Suite(platform_host, echo, request)
    yield suite
    await suite.close()


def _cases() -> list[Any]:
    cases = []
    for platform, known in PLATFORMS.items():
        for row in rows_of(known.driver.manifest):
            if row.is_for(known.driver):
                cases.append(_case(platform, "", row))
            if not row.on_host:
                modes = [mode for mode, driver in known.other_modes.items() if row.is_for(driver)]
                cases += [_case(platform, mode, row) for mode in modes]
    return cases


def _case(platform: str, mode: str, row: Row) -> Any:
    marks = [pytest.mark.long] if row.is_long else []
    name = f"{platform} {mode}".strip()
    return pytest.param(platform, mode, row, id=f"{name}-{row.id}", marks=marks)


@in_module_loop
@pytest.mark.parametrize(("platform", "mode", "row"), _cases())
async def test_row(suite: Suite, platform: str, mode: str, row: Row) -> None:
    level = PLATFORMS[platform].driver.level
    evidence = suite.evidence[platform]
    evidence.begin(row, level)
    if row.on_host:
        await row.check(await suite.bench(platform))
    else:
        async with AdapterBench.running(suite.driver(platform, mode)) as bench:
            await row.check(bench)
    evidence.passed(row, level)


@in_module_loop
@pytest.mark.parametrize("platform", PLATFORMS)
async def test_the_evidence_names_the_rows_that_passed(suite: Suite, platform: str) -> None:
    suite.evidence[platform].compare()


def test_every_adapter_has_a_driver() -> None:
    assert set(PLATFORMS) == set(BuiltinAdapterCatalogue().manifests())


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_behaviour_has_a_driver_or_a_reason(platform: str) -> None:
    known = PLATFORMS[platform]
    drivers = [known.driver, *known.other_modes.values()]
    absent = {name for name in BEHAVIOURS if absence_key(name) in known.driver.manifest.not_supported}
    run = {name for name, row in BEHAVIOURS.items() if any(row.is_for(driver) for driver in drivers)}
    assert run | absent == set(BEHAVIOURS)

"""Tests Gemini CLI, Kimi Code, Qwen Code and OpenCode like `test_real_harnesses.py`.

They are large and so only run by name: `make test-all PART=harnesses-all`.
"""

from collections.abc import Iterator

import pytest

from tests.integration.harnesses.real import SLOW, RealHarness, RealHarnessContract, open_real_host
from tests.support.harness import Host
from tests.support.harness_model.server import HarnessModel

NAMES = ("gemini", "kimi", "qwen", "opencode")

pytestmark = SLOW


@pytest.fixture(scope="module")
def model() -> Iterator[HarnessModel]:
    with HarnessModel() as server:
        yield server


@pytest.fixture(scope="module")
def real_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = open_real_host(tmp_path_factory.mktemp("real"), *NAMES)
    yield host
    host.close()


class TestOtherHarnesses(RealHarnessContract):
    @pytest.fixture(params=NAMES)
    def harness(self, request: pytest.FixtureRequest, real_host: Host, model: HarnessModel) -> RealHarness:
        return RealHarness(real_host, request.param, model, real_host.data.parent / "work")

    @pytest.fixture(params=NAMES)
    def own_harness(
        self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: HarnessModel
    ) -> Iterator[RealHarness]:
        """Provides a coding agent on a Host that the test kills."""
        host = open_real_host(tmp_path_factory.mktemp("killed"), request.param)
        yield RealHarness(host, request.param, model, host.data.parent / "work")
        host.close()

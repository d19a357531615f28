"""Runs the contract of all adapters against this one, on a real Synapse."""

from collections.abc import AsyncIterator

import pytest

from parlour.testing.adapter_contract import ConnectingContract

from .rig import Home, MatrixRig, rigged


class TestSync(ConnectingContract):
    @pytest.fixture
    async def rig(self, home: Home) -> AsyncIterator[MatrixRig]:
        async with rigged(home) as rig, rig.served():
            yield rig

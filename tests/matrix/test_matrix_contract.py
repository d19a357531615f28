"""Runs the contract of all adapters against this one, on a real Synapse."""

from collections.abc import AsyncIterator

import pytest

from parlour.platforms._kit import backoff
from parlour.testing.adapter_contract import ConnectingContract

from .rig import Home, MatrixRig, rigged


class TestSync(ConnectingContract):
    @pytest.fixture
    async def rig(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MatrixRig]:
        monkeypatch.setattr(backoff, "FIRST_DELAY_SECONDS", 0.01)
        async with rigged(home) as rig, rig.served():
            yield rig

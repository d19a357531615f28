"""The object store in memory passes the contract suite."""

import time

import pytest

from parlour.core.store.objects import ObjectStore
from parlour.testing.memory_objects import MemoryObjects
from parlour.testing.objects_contract import ObjectStoreContract


class TestMemoryObjects(ObjectStoreContract):
    @pytest.fixture
    async def objects(self) -> ObjectStore:
        return MemoryObjects(lambda: time.time_ns() // 1_000_000)

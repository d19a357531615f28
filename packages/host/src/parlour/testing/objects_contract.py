"""Tests that every object store must pass. An implementation joins by a subclass that provides the `objects` fixture.

The store is empty. The tests need pytest and pytest-asyncio in auto mode.
"""

import asyncio
import hashlib
import time

import pytest

from parlour.core.store.objects import CHUNK_BYTES, ObjectInfo, ObjectMissing, ObjectStore

HELLO = hashlib.sha256(b"hello").hexdigest()
FOREVER = 10**15
"""A time later than all objects."""
NAMES_OF_NOTHING = {
    "never put": "0" * 64,
    "empty": "",
    "a path": "../../../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "too short": HELLO[:-1],
    "with a slash": HELLO[:32] + "/" + HELLO[33:],
    "with a NUL": HELLO[:-1] + "\0",
    "in capitals": HELLO.upper(),
}


async def put(objects: ObjectStore, *blocks: bytes) -> ObjectInfo:
    writing = await objects.open_writer()
    for block in blocks:
        await writing.write(block)
    return await writing.finish()


async def content(objects: ObjectStore, sha256: str, offset: int = 0, length: int = FOREVER) -> bytes:
    return b"".join([piece async for piece in objects.stream(sha256, offset, length)])


async def names(objects: ObjectStore) -> list[str]:
    return sorted([stored.sha256 async for stored in objects.all()])


class ObjectStoreContract:
    async def test_content_is_found_by_its_digest(self, objects: ObjectStore) -> None:
        assert await put(objects, b"hel", b"", b"lo") == ObjectInfo(HELLO, 5)
        assert await content(objects, HELLO) == b"hello"
        assert await objects.size(HELLO) == 5

    async def test_nothing_at_all_is_content_too(self, objects: ObjectStore) -> None:
        stored = await put(objects)
        assert stored == ObjectInfo(hashlib.sha256(b"").hexdigest(), 0)
        assert await objects.size(stored.sha256) == 0
        assert await content(objects, stored.sha256) == b""

    async def test_the_same_content_is_kept_once(self, objects: ObjectStore) -> None:
        assert await put(objects, b"hello") == await put(objects, b"he", b"llo")
        assert await names(objects) == [HELLO]

    async def test_the_same_content_put_many_times_at_once_is_whole(self, objects: ObjectStore) -> None:
        stored = await asyncio.gather(*(put(objects, b"hel", b"lo") for _ in range(8)))
        assert set(stored) == {ObjectInfo(HELLO, 5)}
        assert await content(objects, HELLO) == b"hello"

    @pytest.mark.parametrize(
        ("offset", "length", "expected"),
        [(0, 5, b"hello"), (1, 3, b"ell"), (3, 100, b"lo"), (5, 1, b""), (99, 1, b""), (2, 0, b"")],
    )
    async def test_a_range_is_read_as_far_as_the_object_reaches(
        self, objects: ObjectStore, offset: int, length: int, expected: bytes
    ) -> None:
        await put(objects, b"hello")
        assert await content(objects, HELLO, offset, length) == expected

    async def test_large_content_comes_in_pieces(self, objects: ObjectStore) -> None:
        expected = bytes(range(256)) * 4096 + b"end"
        stored = await put(objects, expected[:700_000], expected[700_000:])
        pieces = [piece async for piece in objects.stream(stored.sha256, 0, len(expected))]
        assert b"".join(pieces) == expected
        assert max(map(len, pieces)) <= CHUNK_BYTES
        assert await content(objects, stored.sha256, 1_000_000, 100_000) == expected[1_000_000:]

    @pytest.mark.parametrize("name", NAMES_OF_NOTHING.values(), ids=NAMES_OF_NOTHING)
    async def test_what_is_not_there_is_missing(self, objects: ObjectStore, name: str) -> None:
        await put(objects, b"hello")
        assert await objects.size(name) is None
        with pytest.raises(ObjectMissing):
            await content(objects, name)
        assert not await objects.delete(name, FOREVER)
        assert await names(objects) == [HELLO]

    async def test_an_unfinished_object_is_not_there(self, objects: ObjectStore) -> None:
        writing = await objects.open_writer()
        await writing.write(b"hello")
        assert await objects.size(HELLO) is None
        assert await names(objects) == []
        writing.abort()
        assert await names(objects) == []

    async def test_abandoning_what_was_finished_or_abandoned_does_nothing(self, objects: ObjectStore) -> None:
        writing = await objects.open_writer()
        await writing.write(b"hello")
        await writing.finish()
        for _ in range(2):
            writing.abort()
        assert await content(objects, HELLO) == b"hello"

    async def test_a_deleted_object_is_gone_and_can_be_put_again(self, objects: ObjectStore) -> None:
        await put(objects, b"hello")
        assert await objects.delete(HELLO, FOREVER)
        assert await objects.size(HELLO) is None
        assert not await objects.delete(HELLO, FOREVER)
        await put(objects, b"hello")
        assert await content(objects, HELLO) == b"hello"

    async def test_an_object_that_was_put_since_stays(self, objects: ObjectStore) -> None:
        hour_ago = (time.time_ns() // 1_000_000) - 3_600_000
        await put(objects, b"hello")
        assert not await objects.delete(HELLO, hour_ago)
        assert await content(objects, HELLO) == b"hello"

    async def test_everything_is_listed_with_size_and_age(self, objects: ObjectStore) -> None:
        started_at = time.time_ns() // 1_000_000
        contents = [b"", b"one", b"two two"]
        stored = [await put(objects, each) for each in contents]
        objects_by_hash = {item.sha256: item async for item in objects.all()}
        assert {sha256: item.size_bytes for sha256, item in objects_by_hash.items()} == {
            each.sha256: each.size_bytes for each in stored
        }
        assert all(started_at - 60_000 < item.written_at < started_at + 60_000 for item in objects_by_hash.values())

"""Tests the contract of transports with a peer."""

import asyncio

from parlour_sdk.wire import Transport, WireLimits

from .support import Link, settle, within

PIECE = b"x" * 64 * 1024


class End:
    """Records the frames and the end of a transport."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.frames: list[bytes] = []
        self.ends: list[BaseException | None] = []
        self.changed = asyncio.Event()
        self.pause_after = -1
        self.close_after = -1
        transport.start(self._on_frame, self._on_closed)

    def _on_frame(self, frame: bytes) -> None:
        self.frames.append(frame)
        self.changed.set()
        if len(self.frames) == self.pause_after:
            self.transport.pause()
        if len(self.frames) == self.close_after:
            self.transport.close()

    def _on_closed(self, error: BaseException | None) -> None:
        self.ends.append(error)
        self.changed.set()

    async def has(self, frames: int, ends: int) -> None:
        """Waits until this many frames and ends have arrived."""
        async with asyncio.timeout(30):
            while len(self.frames) < frames or len(self.ends) < ends:
                self.changed.clear()
                await self.changed.wait()
        assert (len(self.frames), len(self.ends)) == (frames, ends)


async def two_ends(link: Link) -> tuple[End, End]:
    left, right = await link.transports(WireLimits(), WireLimits())
    return End(left), End(right)


async def fill(transport: Transport) -> int:
    """Sends frames until the transport is congested, and returns their number."""
    for count in range(1, 200):
        transport.send(PIECE)
        await settle()
        if transport.congested:
            return count
    raise AssertionError("unread frames are buffered without a limit")


async def test_frames_arrive_in_order_before_a_regular_end(link: Link) -> None:
    left, right = await two_ends(link)
    expected = [b"%d" % number for number in range(1000)]
    for frame in expected:
        right.transport.send(frame)
    right.transport.close()
    await left.has(frames=1000, ends=1)
    assert (left.frames, left.ends) == (expected, [None])


async def test_a_pause_delays_later_frames_and_the_end(link: Link) -> None:
    left, right = await two_ends(link)
    left.pause_after = 1
    for number in range(3):
        right.transport.send(b"%d" % number)
    right.transport.close()
    await left.has(frames=1, ends=0)
    await settle(200)
    left.transport.send(b"probe")
    await settle()
    await left.has(frames=1, ends=0)
    left.transport.resume()
    await left.has(frames=3, ends=1)
    assert (left.frames, left.ends) == ([b"0", b"1", b"2"], [None])


async def test_a_paused_side_congests_the_other_until_it_resumes(link: Link) -> None:
    left, right = await two_ends(link)
    right.transport.send(b"first")
    await left.has(frames=1, ends=0)
    left.transport.pause()
    sent = await fill(right.transport)
    draining = asyncio.create_task(right.transport.drain())
    await settle()
    assert not draining.done()
    left.transport.resume()
    await within(draining)
    assert not right.transport.congested
    await left.has(frames=1 + sent, ends=0)


async def test_frames_before_the_start_are_bounded_and_kept(link: Link) -> None:
    left, right = await link.transports(WireLimits(), WireLimits())
    End(right)
    sent = await fill(right)
    await End(left).has(frames=sent, ends=0)


async def test_closing_ends_a_drain_and_later_sends_are_ignored(link: Link) -> None:
    left, right = await two_ends(link)
    left.transport.pause()
    await fill(right.transport)
    draining = asyncio.create_task(right.transport.drain())
    await settle()
    right.transport.close()
    right.transport.close()
    await within(draining)
    assert not right.transport.congested
    right.transport.send(b"too late")
    await settle()
    assert right.ends == []


async def test_a_side_that_closes_receives_nothing_more(link: Link) -> None:
    left, right = await two_ends(link)
    left.close_after = 1
    for number in range(3):
        right.transport.send(b"%d" % number)
    await right.has(frames=0, ends=1)
    await settle()
    assert (left.frames, left.ends) == ([b"0"], [])


async def test_a_side_that_was_never_started_can_be_closed(link: Link) -> None:
    left, right = await link.transports(WireLimits(), WireLimits())
    left.close()
    await End(right).has(frames=0, ends=1)

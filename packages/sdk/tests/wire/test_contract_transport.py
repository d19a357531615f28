"""What a transport promises to a peer."""

import asyncio

from parlour_sdk.wire import Transport, WireLimits

from .support import Link, settle, within

PIECE = b"x" * 64 * 1024


class End:
    """What a transport hands over, and how it ends."""

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
        """Return when that much has come."""
        async with asyncio.timeout(30):
            while len(self.frames) < frames or len(self.ends) < ends:
                self.changed.clear()
                await self.changed.wait()
        assert (len(self.frames), len(self.ends)) == (frames, ends)


async def two_ends(link: Link) -> tuple[End, End]:
    left, right = await link.transports(WireLimits(), WireLimits())
    return End(left), End(right)


async def fill(transport: Transport) -> int:
    """Send until it is congested; how many frames that took."""
    for count in range(1, 200):
        transport.send(PIECE)
        await settle()
        if transport.congested:
            return count
    raise AssertionError("what the other side doesn't read is hoarded without end")


async def test_frames_come_in_order_and_a_regular_end_comes_last(link: Link) -> None:
    left, right = await two_ends(link)
    expected = [b"%d" % number for number in range(1000)]
    for frame in expected:
        right.transport.send(frame)
    right.transport.close()
    await left.has(frames=1000, ends=1)
    assert (left.frames, left.ends) == (expected, [None])


async def test_a_pause_holds_back_the_rest_and_the_end_until_it_is_over(link: Link) -> None:
    left, right = await two_ends(link)
    left.pause_after = 1
    for number in range(3):
        right.transport.send(b"%d" % number)
    right.transport.close()
    await left.has(frames=1, ends=0)
    await settle(200)
    left.transport.send(b"is anybody there")
    await settle()
    await left.has(frames=1, ends=0)
    left.transport.resume()
    await left.has(frames=3, ends=1)
    assert (left.frames, left.ends) == ([b"0", b"1", b"2"], [None])


async def test_a_paused_side_congests_the_other_until_it_reads_on(link: Link) -> None:
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


async def test_what_comes_before_the_start_is_not_hoarded(link: Link) -> None:
    left, right = await link.transports(WireLimits(), WireLimits())
    End(right)
    sent = await fill(right)
    await End(left).has(frames=sent, ends=0)


async def test_closing_wakes_who_waits_and_makes_sending_harmless(link: Link) -> None:
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


async def test_a_side_that_closes_hears_nothing_more(link: Link) -> None:
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

"""Distinguishes a plugin whose event loop hangs from one whose answers arrive late. It ends no process itself."""

import asyncio

from parlour_sdk.wire import Peer, WireError

from .policy import HealthPolicy

_SLICES = 10
_PAUSED_SLICE_WEIGHT = 0.1


async def watch(peer: Peer, policy: HealthPolicy) -> str:
    """Pings until too many in a row were not answered, and returns that as a reason."""
    pings: set[asyncio.Task[None]] = set()
    missed = 0
    try:
        while missed < policy.missed_pings:
            pings.add(asyncio.create_task(_ping(peer)))
            if await _is_any_answered(pings, peer, policy.ping_seconds):
                missed = 0
                await asyncio.sleep(policy.ping_seconds)
            else:
                missed += 1
    finally:
        for ping in pings:
            ping.cancel()
    return f"its event loop did not answer for {missed * policy.ping_seconds:g} s"


async def _ping(peer: Peer) -> None:
    try:
        await peer.call("ping")
    except WireError:
        return  # an error is an answer too, and a connection that is closed is noticed elsewhere


async def _is_any_answered(pings: set[asyncio.Task[None]], peer: Peer, seconds: float) -> bool:
    """Returns whether any ping was answered within these seconds, counting only the time in which we could read.

    Time in which our own loop was blocked does not count: the answer may be unread. Time in which reading was paused
    counts a tenth: the plugin's earlier output has to be read first, but it must not delay the answer indefinitely.
    """
    loop = asyncio.get_running_loop()
    length = seconds / _SLICES
    silent = 0.0
    while silent < _SLICES - _PAUSED_SLICE_WEIGHT / 2:
        begun = loop.time()
        answered, _ = await asyncio.wait(pings, timeout=length, return_when=asyncio.FIRST_COMPLETED)
        if answered:
            pings -= answered
            return True
        if loop.time() - begun < 2 * length:
            silent += _PAUSED_SLICE_WEIGHT if peer.paused_until > begun else 1
    return False

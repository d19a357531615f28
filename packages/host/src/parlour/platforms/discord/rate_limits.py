"""Keeps to the rate limits that Discord announces: one bucket per route and chat, and one for the whole bot.

A call waits for a bucket that is empty for a moment. A longer wait is left to delivery, which knows the order of sends.
"""

import asyncio
import re
from collections import deque

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.http_client import ApiResponse
from parlour.platforms._kit.retry_after import retry_after_seconds
from parlour_sdk.values import dataclass

from .entities import SERVICE

MAX_WAIT_SECONDS = 3.0
INVALID_STATUSES = (401, 403, 429)
INVALID_WINDOW_SECONDS = 600.0
MAX_INVALID_REQUESTS = 8000
"""Refused requests in ten minutes after which none is sent. Discord blocks an address for an hour after 10,000."""
BLOCKED_RETRY_SECONDS = 60.0
"""Delay if a proxy in front of Discord refuses requests, which answers without JSON."""
_MAJOR = re.compile(r"^/(channels|guilds|webhooks|interactions)/(\d+)")
_ID = re.compile(r"/\d{15,}|(?<=/reactions)/[^/]+")


@dataclass(slots=True)
class RateBucket:
    """The calls that Discord accepts on a route until its reset."""

    remaining: int
    resets_at: float


class DiscordRateLimits:
    """Rate limits of one bot."""

    def __init__(self) -> None:
        self._names: BoundedMap[str, str] = BoundedMap()
        """Discord's name of the bucket of a route."""
        self._buckets: BoundedMap[str, RateBucket] = BoundedMap()
        self._account_until = 0.0
        self._invalid: deque[float] = deque()

    async def wait(self, method: str, path: str) -> None:
        """Waits until a call is accepted, and counts it. Raises PlatformRefused if that takes longer than a moment."""
        now = asyncio.get_running_loop().time
        while (delay := self._delay(method, path, now())) > 0:
            if delay > MAX_WAIT_SECONDS:
                is_for_all = self._account_until - now() >= delay
                reason = f"{SERVICE} accepts no such call for now; it named the time itself"
                raise PlatformRefused(reason, retry_after=delay, account_wide=is_for_all)
            await asyncio.sleep(delay)
        bucket = self._bucket(method, path)
        if bucket is not None and bucket.resets_at > now():
            bucket.remaining -= 1

    def record(self, method: str, path: str, response: ApiResponse) -> PlatformRefused | None:
        """Notes what a response says about limits. Returns the error of a response that refuses a call for its rate."""
        now = asyncio.get_running_loop().time()
        if response.status in INVALID_STATUSES:
            self._invalid.append(now)
        headers = response.headers
        route = route_key(method, path)
        if name := headers.get("X-RateLimit-Bucket"):
            self._names.set(route, f"{name} {_major(path)}")
        remaining, reset_after = headers.get("X-RateLimit-Remaining", ""), headers.get("X-RateLimit-Reset-After", "")
        if remaining.isdecimal() and (seconds := _seconds(reset_after)) is not None:
            self._buckets.set(self._names.get(route) or route, RateBucket(int(remaining), now + seconds))
        return self._too_many(route, response, now) if response.status == 429 else None

    def _too_many(self, route: str, response: ApiResponse, now: float) -> PlatformRefused:
        body = response.read_object()
        delay = retry_after_seconds(response.headers, body)
        if body is None:
            self._account_until = now + (delay or BLOCKED_RETRY_SECONDS)
            reason = "this machine's address sends too many requests that Discord refuses"
            return PlatformRefused(reason, delay or BLOCKED_RETRY_SECONDS, account_wide=True)
        delay = 1.0 if delay is None else delay
        is_for_all = body.get("global") is True
        if is_for_all:
            self._account_until = now + delay
        else:
            self._buckets.set(self._names.get(route) or route, RateBucket(0, now + delay))
        return PlatformRefused("Discord refused the call because there were too many", delay, account_wide=is_for_all)

    def _delay(self, method: str, path: str, now: float) -> float:
        while self._invalid and self._invalid[0] < now - INVALID_WINDOW_SECONDS:
            self._invalid.popleft()
        if len(self._invalid) >= MAX_INVALID_REQUESTS:
            return self._invalid[0] + INVALID_WINDOW_SECONDS - now
        bucket = self._bucket(method, path)
        until = bucket.resets_at if bucket is not None and bucket.remaining <= 0 else 0.0
        return max(until, self._account_until) - now

    def _bucket(self, method: str, path: str) -> RateBucket | None:
        route = route_key(method, path)
        return self._buckets.get(self._names.get(route) or route)


def route_key(method: str, path: str) -> str:
    """Returns what shares a limit: the method, the path without its ids, and the chat, server, webhook or
    interaction that the path begins with.
    """
    return f"{method} {_ID.sub('/:id', path.partition('?')[0])} {_major(path)}"


def _major(path: str) -> str:
    match = _MAJOR.match(path)
    return match[2] if match else ""


def _seconds(value: str) -> float | None:
    try:
        return max(0.0, float(value))
    except ValueError:
        return None

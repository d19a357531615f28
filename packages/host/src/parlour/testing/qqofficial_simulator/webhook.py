"""Signs the calls of the simulated QQ, and repeats those that are not acknowledged. Written apart from the adapter."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from .rules import Json

OFFLINE_SECONDS, MAX_ATTEMPTS, TIMEOUT_SECONDS = 0.1, 300, 10.0


def private_key(secret: str) -> Ed25519PrivateKey:
    seed = secret
    while len(seed) < 32:
        seed += secret
    return Ed25519PrivateKey.from_private_bytes(seed[:32].encode())


class WebhookCaller:
    def __init__(self, app_id: str, secret: str, notify: Callable[[], Awaitable[None]]) -> None:
        self._app_id = app_id
        self._key = private_key(secret)
        self._notify = notify
        self.address = ""
        self.waiting = 0
        self._turn = asyncio.Lock()

    def headers(self, body: bytes) -> dict[str, str]:
        moment = str(int(time.time()))
        return {
            "X-Bot-Appid": self._app_id, "X-Signature-Timestamp": moment, "User-Agent": "QQBot-Callback",
            "X-Signature-Ed25519": self._key.sign(moment.encode() + body).hex(), "Content-Type": "application/json",
        }  # fmt: skip

    async def post(self, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        timeout = ClientTimeout(total=TIMEOUT_SECONDS)
        async with ClientSession(timeout=timeout, headers=headers) as session:
            response = await session.post(self.address, data=body)
            content = await response.text()
            return response.status, json.loads(content) if content.startswith("{") else content

    async def check(self) -> bool:
        """Checks the address as the console does when it is saved."""
        token, moment = "Arq0D5A61EgUu4OxUvOp", "1725442341"
        body = json.dumps({"op": 13, "d": {"plain_token": token, "event_ts": moment}}).encode()
        status, answer = await self.post(body, self.headers(body))
        expected = self._key.sign((moment + token).encode()).hex()
        return status == 200 and answer == {"plain_token": token, "signature": expected}

    async def report(self, frame: Json) -> None:
        """Makes a call until it is acknowledged. Calls are made in order."""
        self.waiting += 1
        await self._notify()
        try:
            async with self._turn:
                await self._attempt(json.dumps(frame, ensure_ascii=False).encode())
        finally:
            self.waiting -= 1
            await self._notify()

    async def _attempt(self, body: bytes) -> None:
        for _ in range(MAX_ATTEMPTS):
            try:
                if (await self.post(body, self.headers(body))) == (200, {"op": 12}):
                    return
            except (ClientError, OSError, TimeoutError):
                pass
            await asyncio.sleep(OFFLINE_SECONDS)

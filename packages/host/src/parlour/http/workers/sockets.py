"""Admits and serves the connections of worker processes."""

import asyncio
from dataclasses import replace
from typing import Final

from fastapi import WebSocket
from fastapi.responses import PlainTextResponse

from parlour.core.model.ids import ApiKeyId, RuntimeId
from parlour.core.remote.executions import KEY_INVALID
from parlour_sdk.wire import Peer
from parlour_sdk.wire.limits import DEFAULT_LIMITS

from ..errors import Problem
from ..principals import Authenticator
from .connections import WorkerConnections
from .messages import FRAME_GROWTH_BYTES
from .session import WorkerServices, WorkerSession
from .transport import AsgiTransport

LIMITS: Final = replace(DEFAULT_LIMITS, frame_bytes=DEFAULT_LIMITS.frame_bytes + FRAME_GROWTH_BYTES)


class WorkerSockets:
    """Serves the sockets of workers."""

    def __init__(self, services: WorkerServices, authenticator: Authenticator, connections: WorkerConnections) -> None:
        self._services = services
        self._authenticator = authenticator
        self._connections = connections

    async def serve(self, socket: WebSocket) -> None:
        """Serves a socket until it is closed, or refuses its handshake."""
        try:
            principal = await self._authenticator.authorize(socket, "worker")
        except Problem as problem:
            await socket.send_denial_response(PlainTextResponse(f"{problem.message}\n", problem.status))
            return
        key = await self._services.keys.get(ApiKeyId(principal.id))
        if key is None:
            await socket.send_denial_response(PlainTextResponse(f"{KEY_INVALID}\n", 401))
            return
        await socket.accept()
        transport = AsgiTransport(socket, LIMITS)
        session = WorkerSession(key, self._services, self._connections)
        session.peer = Peer(transport, session, transport.limits, name=f"worker of key {key.key_id}")
        session.peer.start()
        watching = asyncio.ensure_future(self._end_with_key(session))
        try:
            await transport.serve()
        finally:
            watching.cancel()
            session.peer.close("the connection ended")
            session.close()

    def disconnect(self, runtime_id: RuntimeId, reason: str) -> None:
        self._connections.close(runtime_id, reason)

    async def _end_with_key(self, session: WorkerSession) -> None:
        await session.watch_key()
        await session.end_registration()
        if session.peer is not None:
            session.peer.close(KEY_INVALID, refused=True)

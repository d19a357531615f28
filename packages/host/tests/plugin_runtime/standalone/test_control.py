"""Requests of a Host that disconnects are finished, and failures of the runtime's disk are reported."""

import asyncio
import base64
import errno
import os
import time
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from parlour.core.model.plugin_manager import PluginError, PluginManager
from parlour.plugin_runtime.remote import messages
from parlour.plugin_runtime.standalone.control_channel import ControlChannel
from parlour.plugin_runtime.standalone.sessions import HostSessions, OpenPeer
from parlour.plugin_runtime.standalone.status_broadcast import StatusBroadcast, StatusChanges
from parlour.plugin_runtime.standalone.tokens import Token
from parlour.plugin_runtime.standalone.uploads import MAX_OPEN_UPLOADS, STALE_SECONDS, Uploads
from parlour_sdk.wire import WireError


class FullDiskManager:
    """A manager without disk space for any change."""

    async def remove(self, plugin_id: str, delete_data: bool) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class SlowManager:
    """A manager whose removal waits for `go_on`."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()
        self.removed = asyncio.Event()

    async def remove(self, plugin_id: str, delete_data: bool) -> None:
        self.started.set()
        await self.go_on.wait()
        self.removed.set()


async def connected_channel(manager: object, uploads: Path) -> ControlChannel:
    token = Token(token_id="1", name="test", digest="", created_at=0)
    sessions = HostSessions(lambda: None)
    board, connect = StatusBroadcast(StatusChanges(), list, dict), cast(OpenPeer, lambda dispatcher: object())
    control = ControlChannel(token, cast(PluginManager, manager), board, sessions, Uploads(uploads, 10), "0", connect)
    hello = messages.ControlHello(protocol=messages.RUNTIME_PROTOCOL_VERSION, version="0", host="one").model_dump()
    await cast(Any, control.dispatch("hello", hello))
    return control


async def test_a_request_is_finished_after_its_host_disconnects(tmp_path: Path) -> None:
    manager = SlowManager()
    control = await connected_channel(manager, tmp_path)
    asking = asyncio.create_task(
        cast(Any, control.dispatch("remove", {"plugin_id": "acme/hello", "delete_data": False}))
    )
    await manager.started.wait()

    asking.cancel()
    await asyncio.wait([asking])
    manager.go_on.set()

    async with asyncio.timeout(10):
        await manager.removed.wait()
    assert manager.removed.is_set()


async def test_a_full_disk_is_reported_with_the_remedy(tmp_path: Path) -> None:
    control = await connected_channel(FullDiskManager(), tmp_path)

    with pytest.raises(WireError, match="No space left on device; make room on the disk") as failure:
        await cast(Any, control.dispatch("remove", {"plugin_id": "acme/hello", "delete_data": False}))

    assert failure.value.code == "storage_full"


def test_a_full_disk_refuses_uploads_until_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as without_room:
        without_room.setattr(os, "mkdir", full)
        uploads = Uploads(tmp_path, 10)
        with pytest.raises(PluginError, match="the package can't be kept: No space left on device; make room"):
            uploads.begin()

    name = uploads.begin()
    uploads.add(name, base64.b64encode(b"content").decode())
    assert uploads.path(name).read_bytes() == b"content"
    uploads.close()


def test_an_abandoned_upload_makes_room_for_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads = Uploads(tmp_path, 10)
    stored, *_ = [uploads.begin() for _ in range(MAX_OPEN_UPLOADS)]
    uploads.add(stored, base64.b64encode(b"content").decode())
    installing = uploads.finish(stored)
    with pytest.raises(PluginError, match="uploads are open"):
        uploads.begin()

    later = time.monotonic() + STALE_SECONDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)

    assert [uploads.begin() for _ in range(MAX_OPEN_UPLOADS - 1)]
    assert installing.read_bytes() == b"content"
    uploads.close()

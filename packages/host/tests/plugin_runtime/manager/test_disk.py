"""A slow, full or read-only disk does not block the event loop, and every refusal names its remedy."""

import errno
import fcntl
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlour.core.model.plugin_manager import PluginError

from ..plugin_files import names, write_plugin, write_zip
from .manager_world import HELLO, World


async def test_disk_access_never_runs_in_the_main_thread(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record_thread(function: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*arguments: Any, **options: Any) -> Any:
            used.append(threading.current_thread() is not threading.main_thread())
            return function(*arguments, **options)

        return recorded

    used: list[bool] = []
    for module, name in ((os, "fsync"), (os, "rename"), (fcntl, "flock"), (shutil, "rmtree"), (shutil, "copy")):
        monkeypatch.setattr(module, name, record_thread(getattr(module, name)))
    world.runtime.start_failures["3.0"] = "it is broken"
    await world.install(write_zip(tmp_path / "one.zip", write_plugin(tmp_path / "one")))
    await world.install(write_plugin(tmp_path / "two", version="2.0"))
    for source in (write_plugin(tmp_path / "three", version="3.0"), write_zip(tmp_path / "bad.zip", tmp_path)):
        with pytest.raises(PluginError):
            await world.install(source)
    await world.manager.change(HELLO, None, False)
    await world.manager.remove(HELLO, True)

    assert len(used) > 20
    assert all(used)


@pytest.mark.parametrize("kind", ["folder", "zip"])
async def test_a_full_disk_is_reported_and_the_old_version_stays(
    world: World, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    before = names(world.root)
    source = write_plugin(tmp_path / "two", version="2.0")
    source = write_zip(tmp_path / "two.zip", source) if kind == "zip" else source

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("copyfile", "copyfileobj"):
        monkeypatch.setattr(shutil, name, full)
    message = "the plugin could not be copied: No space left on device; nothing was changed; make room on the disk"
    with pytest.raises(PluginError, match=message) as no:
        await world.install(source)

    assert no.value.code == "storage_full"
    assert names(world.root) == before
    assert world.version() == "1.0"


async def test_a_full_disk_refuses_every_change_with_the_remedy_and_changes_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    before = world.manager.all()

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def restart(plugin_id: str) -> None:
        full()

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(world.runtime, "restart", restart)
    for act in (
        lambda: world.manager.change(HELLO, None, False),
        lambda: world.manager.restart(HELLO),
        lambda: world.manager.remove(HELLO, False),
    ):
        with pytest.raises(PluginError, match="No space left on device; make room on the disk of") as no:
            await act()
        assert no.value.code == "storage_full"

    assert world.manager.all() == before


async def test_a_disk_without_write_permission_has_its_own_refusal(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    def denied(*arguments: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "fsync", denied)
    with pytest.raises(PluginError, match="Read-only file system; let the user that runs Parlour write to") as no:
        await world.manager.remove(HELLO, False)
    assert no.value.code == "not_written"

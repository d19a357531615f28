"""A damaged record is shown, repaired by an installation, or removed; a missing plugin is not found."""

from pathlib import Path

import pytest

from parlour.core.model.plugin_manager import PluginError

from ..plugin_files import names, write_plugin
from .manager_world import HELLO, World


async def damaged(world: World, tmp_path: Path) -> Path:
    """Installs a plugin and damages its record."""
    source = write_plugin(tmp_path / "one", permissions="{storage: [plugin]}")
    await world.install(source, granted=["storage"])
    (world.root / HELLO / "record.json").write_text('{"current":')
    return source


async def test_a_plugin_with_a_damaged_record_is_shown_as_failed_and_can_not_be_changed(
    world: World, tmp_path: Path
) -> None:
    await damaged(world, tmp_path)

    await world.manager.refresh()

    [facts] = world.manager.all()
    assert (facts.plugin_id, facts.status) == (HELLO, "failed")
    assert facts.reason == "its record (record.json) is damaged; install the plugin again, or remove it"
    assert facts.granted == {}
    assert world.runtime.running == {}
    for act in (lambda: world.manager.restart(HELLO), lambda: world.manager.change(HELLO, None, True)):
        with pytest.raises(PluginError, match="install the plugin again") as refused:
            await act()
        assert refused.value.code == "plugin_unusable"


@pytest.mark.parametrize("upgrade", [None, HELLO])
async def test_a_damaged_record_is_repaired_by_installing_again(
    world: World, tmp_path: Path, upgrade: str | None
) -> None:
    source = await damaged(world, tmp_path)
    with pytest.raises(PluginError) as refused:
        await world.install(source, upgrade=upgrade)
    assert refused.value.code == "grants_required", "what was granted is not known any more"

    assert await world.install(source, granted=["storage"], upgrade=upgrade) == "1.0 ready"

    assert len([path for path in (world.root / HELLO).iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("delete", [True, False])
async def test_a_plugin_with_a_damaged_record_is_removed_and_its_data_as_asked(
    world: World, tmp_path: Path, delete: bool
) -> None:
    await damaged(world, tmp_path)
    (world.data / HELLO).mkdir(parents=True)

    await world.manager.remove(HELLO, delete)

    assert world.manager.all() == []
    assert names(world.root) == {".lock"}
    assert (world.data / HELLO).exists() != delete
    assert world.forgotten == ([f"{HELLO} 0"] if delete else [])


async def test_an_interrupted_removal_is_finished_at_the_next_refresh(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.folder.edit(HELLO, lambda record: record.model_copy(update={"removing": "delete"}))

    await World(tmp_path).manager.refresh()

    assert names(world.root) == {".lock"}


@pytest.mark.parametrize("plugin_id", ["acme/other", "../..", "acme/"])
async def test_a_plugin_that_is_not_installed_is_not_found(world: World, plugin_id: str) -> None:
    for act in (
        lambda: world.manager.remove(plugin_id, True),
        lambda: world.manager.restart(plugin_id),
        lambda: world.manager.change(plugin_id, [], None),
    ):
        with pytest.raises(PluginError) as refused:
            await act()
        assert refused.value.code == "not_found"
    with pytest.raises(PluginError):
        await world.manager.log(plugin_id, 10)

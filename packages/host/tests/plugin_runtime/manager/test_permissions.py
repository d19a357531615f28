"""Permissions are granted explicitly, and another plugin of the same name does not inherit them."""

from pathlib import Path

import pytest

from parlour.core.model.plugin_manager import PluginError

from ..plugin_files import write_plugin, write_zip
from .manager_world import HELLO, REQUESTED_PERMISSIONS, World


async def test_permissions_have_to_be_granted_explicitly_at_the_first_installation(
    world: World, tmp_path: Path
) -> None:
    source = write_plugin(tmp_path / "one", permissions=REQUESTED_PERMISSIONS)

    with pytest.raises(PluginError) as refused:
        await world.install(source)
    assert refused.value.code == "grants_required"
    assert refused.value.details["asked"]["network"] == ["a.example", "b.example"]
    assert world.manager.all() == []

    await world.install(source, granted=["network:b.example"])

    [facts] = world.manager.all()
    assert facts.granted == {"network": ["b.example"]}
    assert facts.ungranted == {"network": ["a.example"], "storage": ["plugin"]}
    assert world.runtime.running[HELLO].plugin.granted.network == ["b.example"]


async def test_an_upgrade_keeps_granted_permissions_and_gets_no_new_ones(world: World, tmp_path: Path) -> None:
    await world.install(
        write_plugin(tmp_path / "one", permissions=REQUESTED_PERMISSIONS), granted=["network", "storage"]
    )

    new_permissions = "{network: [b.example, c.example], models: [invoke]}"
    await world.install(write_plugin(tmp_path / "two", version="2.0", permissions=new_permissions))

    [facts] = world.manager.all()
    assert facts.granted == {"network": ["b.example"]}
    assert facts.ungranted == {"network": ["c.example"], "models": ["invoke"]}

    facts = await world.manager.change(HELLO, ["network", "models"], None)
    assert facts.ungranted == {}
    assert world.runtime.running[HELLO].plugin.granted.network == ["b.example", "c.example"]


@pytest.mark.parametrize("granted", [["models"], ["network:evil.example"]])
async def test_a_permission_that_is_not_requested_can_not_be_granted(
    world: World, tmp_path: Path, granted: list[str]
) -> None:
    source = write_plugin(tmp_path / "one", permissions=REQUESTED_PERMISSIONS)
    with pytest.raises(PluginError, match="can't be granted"):
        await world.install(source, granted=granted)
    await world.install(source, granted=[])

    with pytest.raises(PluginError, match="can't be granted"):
        await world.manager.change(HELLO, granted, None)

    assert world.manager.all()[0].granted == {}


async def test_an_upgrade_of_a_named_plugin_refuses_another_plugin(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    with pytest.raises(PluginError, match="this is acme/other and can't replace acme/hello"):
        await world.install(write_plugin(tmp_path / "two", name="other"), upgrade=HELLO)
    with pytest.raises(PluginError, match="acme/other is not installed"):
        await world.install(tmp_path / "two", upgrade="acme/other")
    assert await world.install(write_plugin(tmp_path / "three", version="2.0"), upgrade=HELLO) == "2.0 ready"

    assert [each.plugin_id for each in world.manager.all()] == [HELLO]


async def test_different_content_of_the_same_name_and_version_is_refused(world: World, tmp_path: Path) -> None:
    mine = write_zip(tmp_path / "mine.zip", write_plugin(tmp_path / "mine"))
    theirs = write_plugin(tmp_path / "theirs")
    (theirs / "runner.py").write_text("VERSION = 'theirs'\n")
    theirs = write_zip(tmp_path / "theirs.zip", theirs)

    async def upload(file: Path, upgrade: str | None = None) -> str:
        return (await world.manager.install(str(file), "plugin.zip", None, upgrade)).sha256

    first = await upload(mine)
    with pytest.raises(PluginError, match=r"acme/hello 1\.0 is installed already, from plugin\.zip") as refused:
        await upload(theirs)
    assert refused.value.code == "identity_taken"
    assert await upload(mine) == first, "the same content is the same plugin"
    assert await upload(theirs, upgrade=HELLO) != first


async def test_a_pending_version_is_not_replaced_by_different_content(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    installer = world.manager._installer
    async with installer.package(str(write_plugin(tmp_path / "two", version="2.0"))) as package:
        await installer.add(package, {})
    other = write_plugin(tmp_path / "other", version="2.0")
    (other / "runner.py").write_text("VERSION = 'other'\n")

    with pytest.raises(PluginError, match=r"2\.0 is installed already"):
        await world.install(other)


async def test_a_changed_plugin_can_be_installed_again_from_its_folder(world: World, tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "one")
    await world.install(folder)
    (folder / "runner.py").write_text("VERSION = 'changed'\n")

    assert await world.install(folder) == "1.0 ready"

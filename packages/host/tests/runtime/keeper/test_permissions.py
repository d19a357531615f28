"""What a plugin asks for is granted in words, and nobody gets it under another name."""

from pathlib import Path

import pytest

from parlour.core.model.plugin_manager import PluginError

from ..plugin_files import write_plugin, write_zip
from .kept import ASKS, HELLO, World


async def test_what_a_plugin_asks_for_has_to_be_granted_in_words_the_first_time(world: World, tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "one", permissions=ASKS)

    with pytest.raises(PluginError) as refused:
        await world.install(source)
    assert refused.value.code == "grants_required"
    assert refused.value.details["asked"]["network"] == ["a.example", "b.example"]
    assert world.keeper.all() == []

    await world.install(source, granted=["network:b.example"])

    [facts] = world.keeper.all()
    assert facts.granted == {"network": ["b.example"]}
    assert facts.ungranted == {"network": ["a.example"], "storage": ["plugin"]}
    assert world.runtime.running[HELLO].plugin.granted.network == ["b.example"]


async def test_an_upgrade_keeps_what_was_granted_and_gets_nothing_new_silently(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one", permissions=ASKS), granted=["network", "storage"])

    wants = "{network: [b.example, c.example], models: [invoke]}"
    await world.install(write_plugin(tmp_path / "two", version="2.0", permissions=wants))

    [facts] = world.keeper.all()
    assert facts.granted == {"network": ["b.example"]}
    assert facts.ungranted == {"network": ["c.example"], "models": ["invoke"]}

    facts = await world.keeper.change(HELLO, ["network", "models"], None)
    assert facts.ungranted == {}
    assert world.runtime.running[HELLO].plugin.granted.network == ["b.example", "c.example"]


@pytest.mark.parametrize("granted", [["models"], ["network:evil.example"]])
async def test_what_is_not_asked_for_can_not_be_granted(world: World, tmp_path: Path, granted: list[str]) -> None:
    source = write_plugin(tmp_path / "one", permissions=ASKS)
    with pytest.raises(PluginError, match="can't be granted"):
        await world.install(source, granted=granted)
    await world.install(source, granted=[])

    with pytest.raises(PluginError, match="can't be granted"):
        await world.keeper.change(HELLO, granted, None)

    assert world.keeper.all()[0].granted == {}


async def test_an_upgrade_of_a_named_plugin_takes_no_other(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    with pytest.raises(PluginError, match="this is acme/other and can't replace acme/hello"):
        await world.install(write_plugin(tmp_path / "two", name="other"), upgrade=HELLO)
    with pytest.raises(PluginError, match="acme/other is not installed"):
        await world.install(tmp_path / "two", upgrade="acme/other")
    assert await world.install(write_plugin(tmp_path / "three", version="2.0"), upgrade=HELLO) == "2.0 ready"

    assert [each.plugin_id for each in world.keeper.all()] == [HELLO]


async def test_another_plugin_of_the_same_name_and_version_is_refused_whatever_its_file_is_called(
    world: World, tmp_path: Path
) -> None:
    mine = write_zip(tmp_path / "mine.zip", write_plugin(tmp_path / "mine"))
    theirs = write_plugin(tmp_path / "theirs")
    (theirs / "runner.py").write_text("VERSION = 'theirs'\n")
    theirs = write_zip(tmp_path / "theirs.zip", theirs)

    async def upload(file: Path, upgrade: str | None = None) -> str:
        return (await world.keeper.install(str(file), "plugin.zip", None, upgrade)).sha256

    first = await upload(mine)
    with pytest.raises(PluginError, match=r"acme/hello 1\.0 is installed already, from plugin\.zip") as refused:
        await upload(theirs)
    assert refused.value.code == "identity_taken"
    assert await upload(mine) == first, "the same content is the same plugin"
    assert await upload(theirs, upgrade=HELLO) != first


async def test_a_version_that_waits_for_its_host_is_not_replaced_by_another_of_its_name(
    world: World, tmp_path: Path
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    installer = world.keeper._installer
    async with installer.package(str(write_plugin(tmp_path / "two", version="2.0"))) as package:
        await installer.add(package, {})
    other = write_plugin(tmp_path / "other", version="2.0")
    (other / "runner.py").write_text("VERSION = 'other'\n")

    with pytest.raises(PluginError, match=r"2\.0 is installed already"):
        await world.install(other)


async def test_a_plugin_is_installed_from_its_folder_as_often_as_its_author_changes_it(
    world: World, tmp_path: Path
) -> None:
    folder = write_plugin(tmp_path / "one")
    await world.install(folder)
    (folder / "runner.py").write_text("VERSION = 'changed'\n")

    assert await world.install(folder) == "1.0 ready"

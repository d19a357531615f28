"""A plugin says which release it needs; an older one refuses to install it."""

from dataclasses import replace
from pathlib import Path

import pytest

from parlour.plugin_runtime.packages.release_requirement import release_number, required_release
from parlour.version import VERSION
from parlour_sdk.plugin import PluginInvalid, read_plugin
from parlour_sdk.protocol.host_actions import HOST_ACTIONS

from .plugin_files import load, write_plugin


def requiring(folder: Path, requirement: str, permissions: str = "{}") -> Path:
    plugin = write_plugin(folder, permissions=permissions)
    manifest = plugin / "manifest.yaml"
    text = manifest.read_text().replace("spec: {", f"spec: {{requires: {{parlour: '{requirement}'}}, ")
    manifest.write_text(text)
    return plugin


@pytest.mark.parametrize("requirement", ["", ">=0.1", ">=0", f">={VERSION}", ">= 0.0.9"])
async def test_a_plugin_for_this_or_an_older_release_is_installed(
    requirement: str, tmp_path: Path, staging: Path
) -> None:
    package = await load(requiring(tmp_path / "source", requirement), staging)

    assert package.plugin.manifest.spec.requires.parlour == requirement


async def test_a_plugin_for_a_newer_release_is_refused_with_both_versions(tmp_path: Path, staging: Path) -> None:
    with pytest.raises(PluginInvalid, match=rf"needs Parlour 99\.1 or newer, and this is {VERSION}; update"):
        await load(requiring(tmp_path / "source", ">=99.1"), staging)


@pytest.mark.parametrize("requirement", ["0.1", "<2", ">=1.*", ">=1,<2", "latest"])
async def test_a_requirement_that_cannot_be_read_is_refused(requirement: str, tmp_path: Path, staging: Path) -> None:
    with pytest.raises(PluginInvalid, match="parlour"):
        await load(requiring(tmp_path / "source", requirement), staging)


def test_the_requirement_is_that_of_the_newest_action_that_permissions_name(tmp_path: Path) -> None:
    plugin = read_plugin(write_plugin(tmp_path / "source", permissions="{models: [invoke, embed]}"))
    since = {"invoke_llm": "1.2", "invoke_embedding": "1.10.1", "call_tool": "7.0"}
    actions = [replace(action, since=since.get(name, "0.1")) for name, action in HOST_ACTIONS.items()]

    assert required_release(plugin, actions) == ">=1.10.1"
    assert required_release(plugin) == ">=0.1"


def test_versions_are_compared_by_number() -> None:
    assert release_number("1.10") > release_number("1.9.9")
    assert release_number("0.1") == release_number("0.1.0")
    assert release_number("2") > release_number("1.99.99")

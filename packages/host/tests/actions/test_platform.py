"""The platform API outside a run: files in pieces, no paths of the Host's machine, and who else is installed."""

import base64
from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.model.plugin_manager import PluginInfo
from parlour.core.model.providers import Providers
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.testing.scripted import ScriptedPlatforms
from parlour_sdk.protocol.manifest import PluginPermissions

from ..core.support import World

ME, OTHER = "acme/me", "acme/other"
GRANTED = PluginPermissions.model_validate({"platform_api": ["message.send", "media"]})


async def opened(**ports: Any) -> tuple[World, ScriptedPlatforms]:
    bots = ScriptedPlatforms({"bot": {"upload_file": {"file_id": "f1"}, "send_message": {"message_id": "m1"}}})
    world = await World.open(providers=Providers(platforms=bots), plugin_grants=lambda plugin_id: GRANTED, **ports)
    return world, bots


async def upload(world: World, piece: bytes, plugin: str = ME, **fields: Any) -> dict[str, Any]:
    content = base64.b64encode(piece).decode()
    asked = {"call_id": "c:1", "bot_id": "bot", "filename": "a.txt", "content_base64": content, **fields}
    return await world.core.gate.call(plugin, "upload_file", asked)


async def code_of(world: World, piece: bytes = b"x", plugin: str = ME, **fields: Any) -> str:
    with pytest.raises(CallRejected) as refusal:
        await upload(world, piece, plugin, **fields)
    return refusal.value.code


async def test_pieces_of_a_file_reach_the_platform_as_one() -> None:
    world, bots = await opened()
    first = await upload(world, b"abc", is_last=False)
    again = await upload(world, b"def", is_last=False, upload_id=first["upload_id"])
    assert again["upload_id"] == first["upload_id"]
    assert bots.calls == []
    done = await upload(world, b"ghi", upload_id=first["upload_id"])
    assert done["file_id"] == "f1"
    [(bot, api, sent)] = bots.calls
    assert (bot, api, base64.b64decode(sent["content_base64"])) == ("bot", "upload_file", b"abcdefghi")
    assert await code_of(world, upload_id=first["upload_id"]) == "not_found"


async def test_a_file_in_one_piece_needs_no_upload() -> None:
    world, bots = await opened()
    assert (await upload(world, b"abc"))["file_id"] == "f1"
    assert len(bots.calls) == 1


async def test_an_upload_is_its_plugins_own_and_every_piece_of_it_the_same_file() -> None:
    world, _ = await opened()
    upload_id = (await upload(world, b"abc", is_last=False))["upload_id"]
    assert await code_of(world, plugin=OTHER, upload_id=upload_id) == "not_found"
    assert await code_of(world, upload_id=upload_id, filename="b.txt") == "invalid_argument"
    assert await code_of(world, upload_id=upload_id) == "not_found"  # a piece that is refused ends it


async def test_a_plugin_has_a_few_uploads_under_way_and_each_has_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parlour.core.actions.chunked_uploads.MAX_FILE_BYTES", 4)
    world, _ = await opened()
    begun = [(await upload(world, b"abc", is_last=False))["upload_id"] for _ in range(4)]
    assert await code_of(world, is_last=False) == "rate_limited"
    assert await code_of(world, b"de", upload_id=begun[0]) == "payload_too_large"
    assert (await upload(world, b"d", upload_id=begun[1]))["file_id"] == "f1"


@pytest.mark.parametrize(
    "chain",
    [
        [{"type": "Image", "path": "/etc/passwd"}],
        [{"type": "Quote", "origin": [{"type": "File", "path": "key"}]}],
        [{"type": "Forward", "nodes": [{"chain": [{"type": "Voice", "path": "x"}]}]}],
    ],
)
async def test_a_path_in_a_chain_is_refused_wherever_it_is(chain: list[Any]) -> None:
    world, bots = await opened()
    asked = {"call_id": "c:1", "bot_id": "bot", "target_type": "group", "target_id": "1", "chain": chain}
    with pytest.raises(CallRejected, match="a path is not taken") as refusal:
        await world.core.gate.call(ME, "send_message", asked)
    assert (refusal.value.code, bots.calls) == ("invalid_argument", [])


async def test_a_plugin_sees_which_plugins_there_are() -> None:
    facts = PluginInfo("acme/x", "1.2", "running", "", {"en_US": "X"}, None, {}, {}, True, "", "", 0, ())
    world, _ = await opened(plugin_list=lambda: [facts])
    told = await world.core.gate.call(ME, "list_plugins", {"call_id": "c:1"})
    [plugin] = told["plugins"]
    assert (plugin["plugin_id"], plugin["version"], plugin["status"]) == ("acme/x", "1.2", "running")


async def test_a_plugin_sees_the_hosts_own_commands_and_those_of_plugins() -> None:
    components = ComponentRegistry()
    command = {"kind": "Command", "name": "weather", "description": {"en_US": "Rain?"}, "spec": {"usage": "/weather"}}
    components.replace_plugin(OTHER, "1", [command])
    world, _ = await opened(components=components)
    told = (await world.core.gate.call(ME, "list_commands", {"call_id": "c:1"}))["commands"]
    assert [(each["name"], each.get("plugin_id")) for each in told] == [
        ("new", None),
        ("stop", None),
        ("weather", OTHER),
    ]
    assert told[2]["usage"] == "/weather"

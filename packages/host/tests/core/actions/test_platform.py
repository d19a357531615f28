"""The platform API outside a run: chunked files, refused local paths, and lists of plugins and commands."""

import base64
from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.model.plugin_manager import PluginInfo
from parlour.core.model.providers import Providers
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.testing.scripted import ScriptedPlatforms
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import World

ME, OTHER = "acme/me", "acme/other"
GRANTED = PluginPermissions.model_validate({"platform_api": ["message.send", "media"]})


async def open_world(**ports: Any) -> tuple[World, ScriptedPlatforms]:
    bots = ScriptedPlatforms({"bot": {"upload_file": {"file_id": "f1"}, "send_message": {"message_id": "m1"}}})
    world = await World.open(providers=Providers(platforms=bots), plugin_grants=lambda plugin_id: GRANTED, **ports)
    return world, bots


async def upload(world: World, piece: bytes, plugin: str = ME, **fields: Any) -> dict[str, Any]:
    content = base64.b64encode(piece).decode()
    arguments = {"call_id": "c:1", "bot_id": "bot", "filename": "a.txt", "content_base64": content, **fields}
    return await world.core.gate.call(plugin, "upload_file", arguments)


async def code_of(world: World, piece: bytes = b"x", plugin: str = ME, **fields: Any) -> str:
    with pytest.raises(CallRejected) as refusal:
        await upload(world, piece, plugin, **fields)
    return refusal.value.code


async def test_chunks_of_a_file_are_uploaded_to_the_platform_as_one() -> None:
    world, bots = await open_world()
    first = await upload(world, b"abc", is_last=False)
    again = await upload(world, b"def", is_last=False, upload_id=first["upload_id"])
    assert again["upload_id"] == first["upload_id"]
    assert bots.calls == []
    done = await upload(world, b"ghi", upload_id=first["upload_id"])
    assert done["file_id"] == "f1"
    [(bot, api, sent)] = bots.calls
    assert (bot, api, base64.b64decode(sent["content_base64"])) == ("bot", "upload_file", b"abcdefghi")
    assert await code_of(world, upload_id=first["upload_id"]) == "not_found"


async def test_file_in_one_chunk_needs_no_upload_id() -> None:
    world, bots = await open_world()
    assert (await upload(world, b"abc"))["file_id"] == "f1"
    assert len(bots.calls) == 1


async def test_upload_is_bound_to_its_plugin_and_file_name() -> None:
    world, _ = await open_world()
    upload_id = (await upload(world, b"abc", is_last=False))["upload_id"]
    assert await code_of(world, plugin=OTHER, upload_id=upload_id) == "not_found"
    assert await code_of(world, upload_id=upload_id, filename="b.txt") == "invalid_argument"
    assert await code_of(world, upload_id=upload_id) == "not_found"  # a refused chunk ends the upload


async def test_open_uploads_and_their_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parlour.core.actions.chunked_uploads.MAX_FILE_BYTES", 4)
    world, _ = await open_world()
    started = [(await upload(world, b"abc", is_last=False))["upload_id"] for _ in range(4)]
    assert await code_of(world, is_last=False) == "rate_limited"
    assert await code_of(world, b"de", upload_id=started[0]) == "payload_too_large"
    assert (await upload(world, b"d", upload_id=started[1]))["file_id"] == "f1"


@pytest.mark.parametrize(
    "chain",
    [
        [{"type": "Image", "path": "/etc/passwd"}],
        [{"type": "Quote", "origin": [{"type": "File", "path": "key"}]}],
        [{"type": "Forward", "nodes": [{"chain": [{"type": "Voice", "path": "x"}]}]}],
    ],
)
async def test_local_path_in_a_chain_is_refused_at_any_depth(chain: list[Any]) -> None:
    world, bots = await open_world()
    arguments = {"call_id": "c:1", "bot_id": "bot", "target_type": "group", "target_id": "1", "chain": chain}
    with pytest.raises(CallRejected, match="a path is not taken") as refusal:
        await world.core.gate.call(ME, "send_message", arguments)
    assert (refusal.value.code, bots.calls) == ("invalid_argument", [])


async def test_plugin_lists_installed_plugins() -> None:
    plugin_info = PluginInfo("acme/x", "1.2", "running", "", {"en_US": "X"}, None, {}, {}, True, "", "", 0, ())
    world, _ = await open_world(plugin_list=lambda: [plugin_info])
    listed = await world.core.gate.call(ME, "list_plugins", {"call_id": "c:1"})
    [plugin] = listed["plugins"]
    assert (plugin["plugin_id"], plugin["version"], plugin["status"]) == ("acme/x", "1.2", "running")


async def test_plugin_lists_commands_of_the_host_and_of_plugins() -> None:
    components = ComponentRegistry()
    command = {"kind": "Command", "name": "weather", "description": {"en_US": "Rain?"}, "spec": {"usage": "/weather"}}
    components.replace_plugin(OTHER, "1", [command])
    world, _ = await open_world(components=components)
    listed = (await world.core.gate.call(ME, "list_commands", {"call_id": "c:1"}))["commands"]
    builtin = ("help", "new", "stop", "agent", "model", "usage", "why")
    assert [(each["name"], each.get("plugin_id")) for each in listed] == [
        *((name, None) for name in builtin),
        ("weather", OTHER),
    ]
    assert listed[-1]["usage"] == "/weather"

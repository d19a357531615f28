"""Knowledge, skills and files of a run, and bots of a plugin: what was granted is found, and the rest is not there."""

import base64

import pytest

from parlour.core.errors import CallRejected
from parlour.core.model.providers import Providers
from parlour.testing.scripted import ScriptedFiles, ScriptedKnowledge, ScriptedPlatforms, ScriptedSkills
from parlour_sdk.protocol.manifest import PluginPermissions

from ..access.requests import plugin_permissions
from ..support import PLUGIN, PuppetRun, World
from .granted import running, world

KNOWLEDGE = {"manual": ["the red lamp", "the blue lamp", "the door"], "diary": ["private"]}


async def opened() -> tuple[World, PuppetRun]:
    made = await world(
        Providers(
            knowledge=ScriptedKnowledge(KNOWLEDGE),
            skills=ScriptedSkills({"cook": "Heat the pan."}),
            files=ScriptedFiles({"notes": b"0123456789"}),
        )
    )
    return made, await running(made)


async def test_a_search_finds_the_passages_of_its_knowledge_base() -> None:
    made, run = await opened()
    found = await made.call(run, "retrieve_knowledge", kb_id="manual", query="lamp", top_k=1)
    assert [(each["content"], each["source"]["file_name"]) for each in found["chunks"]] == [
        ("the red lamp", "manual.txt")
    ]


async def test_the_granted_knowledge_bases_and_skills_are_listed() -> None:
    made, run = await opened()
    bases = (await made.call(run, "list_knowledge"))["knowledge_bases"]
    skills = (await made.call(run, "list_skills"))["skills"]
    assert [each["kb_id"] for each in bases] == ["manual", "diary"]
    assert [each["skill_name"] for each in skills] == ["cook"]


async def test_a_skill_that_is_taken_up_tells_its_instructions() -> None:
    made, run = await opened()
    assert (await made.call(run, "activate_skill", skill_name="cook"))["instructions"] == "Heat the pan."


async def test_a_file_is_read_in_pieces() -> None:
    made, run = await opened()
    first = await made.call(run, "get_file", file_key="notes", offset=0, length=6)
    rest = await made.call(run, "get_file", file_key="notes", offset=6, length=6)
    assert [base64.b64decode(each["content_base64"]) for each in (first, rest)] == [b"012345", b"6789"]
    assert [each["has_more"] for each in (first, rest)] == [True, False]


@pytest.mark.parametrize(
    ("action", "named"),
    [
        ("retrieve_knowledge", {"kb_id": "absent", "query": "lamp"}),
        ("activate_skill", {"skill_name": "absent"}),
        ("get_file", {"file_key": "absent"}),
    ],
)
async def test_what_does_not_exist_was_not_granted_either(action: str, named: dict[str, str]) -> None:
    made, run = await opened()
    with pytest.raises(CallRejected) as refused:
        await made.call(run, action, **named)
    assert refused.value.code == "unauthorized"


async def test_a_plugin_reaches_its_bots_platform() -> None:
    platforms = ScriptedPlatforms({"bot": {"get_friend_list": {"friends": []}}})
    permissions: PluginPermissions = plugin_permissions()
    made = await World.open(providers=Providers(platforms=platforms), plugin_grants=lambda plugin_id: permissions)
    listed = await made.core.gate.call(PLUGIN, "list_bots", {"call_id": "c:1"})
    assert [each["bot_id"] for each in listed["bots"]] == ["bot"]
    able = await made.core.gate.call(PLUGIN, "get_bot_capabilities", {"call_id": "c:2", "bot_id": "bot"})
    assert able["apis"] == ["get_friend_list"]

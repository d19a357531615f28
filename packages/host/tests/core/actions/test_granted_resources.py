"""Knowledge bases, skills, files and bots: granted ones are found, others are refused."""

import base64

import pytest

from parlour.core.errors import CallRejected
from parlour.core.model.providers import Providers
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.testing.scripted import ScriptedFiles, ScriptedKnowledge, ScriptedModels, ScriptedPlatforms, ScriptedSkills
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.protocol.resources import ModelResource

from ..models.model_support import start_run, world
from ..support import PLUGIN, PuppetRun, World, make_agent
from .action_requests import discovery, plugin_permissions

MODELS = [ModelResource(model_id=name, name=name, type="llm") for name in ("small", "large")]
KNOWLEDGE = {"manual": ["the red lamp", "the blue lamp", "the door"], "diary": ["private"]}


async def open_world() -> tuple[World, PuppetRun]:
    made = await world(
        Providers(
            knowledge=ScriptedKnowledge(KNOWLEDGE),
            skills=ScriptedSkills({"cook": "Heat the pan."}),
            files=ScriptedFiles({"notes": b"0123456789"}),
        )
    )
    return made, await start_run(made)


async def test_search_returns_passages_of_the_knowledge_base() -> None:
    made, run = await open_world()
    found = await made.call(run, "retrieve_knowledge", kb_id="manual", query="lamp", top_k=1)
    assert [(each["content"], each["source"]["file_name"]) for each in found["chunks"]] == [
        ("the red lamp", "manual.txt")
    ]


async def test_granted_knowledge_bases_and_skills_are_listed() -> None:
    made, run = await open_world()
    bases = (await made.call(run, "list_knowledge"))["knowledge_bases"]
    skills = (await made.call(run, "list_skills"))["skills"]
    assert [each["kb_id"] for each in bases] == ["manual", "diary"]
    assert [each["skill_name"] for each in skills] == ["cook"]


async def test_a_run_lists_the_models_that_it_was_granted() -> None:
    made = await World.open(
        make_agent(resource_policy=ResourcePolicy(models=("small",))),
        discovery=discovery(),
        providers=Providers(models=ScriptedModels(catalogue=MODELS)),
    )
    run = await start_run(made)
    listed = (await made.call(run, "list_models"))["models"]
    assert [(each["model_id"], each["type"]) for each in listed] == [("small", "llm")]


async def test_a_plugin_lists_models_only_with_the_permission_to_call_them() -> None:
    granted = {PLUGIN: plugin_permissions(), "acme/other": PluginPermissions()}
    made = await World.open(
        providers=Providers(models=ScriptedModels(catalogue=MODELS)),
        plugin_grants=lambda plugin_id: granted[plugin_id],
    )
    listed = await made.core.gate.call(PLUGIN, "list_models", {"call_id": "c:1"})
    assert [each["model_id"] for each in listed["models"]] == ["small", "large"]
    with pytest.raises(CallRejected) as refused:
        await made.core.gate.call("acme/other", "list_models", {"call_id": "c:1"})
    assert refused.value.code == "unauthorized"


async def test_activated_skill_returns_its_instructions() -> None:
    made, run = await open_world()
    assert (await made.call(run, "activate_skill", skill_name="cook"))["instructions"] == "Heat the pan."


async def test_file_is_read_in_chunks() -> None:
    made, run = await open_world()
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
async def test_missing_resource_is_refused_as_unauthorized(action: str, named: dict[str, str]) -> None:
    made, run = await open_world()
    with pytest.raises(CallRejected) as refused:
        await made.call(run, action, **named)
    assert refused.value.code == "unauthorized"


async def test_plugin_lists_its_bots_and_their_capabilities() -> None:
    platforms = ScriptedPlatforms({"bot": {"get_friend_list": {"friends": []}}})
    permissions: PluginPermissions = plugin_permissions()
    made = await World.open(providers=Providers(platforms=platforms), plugin_grants=lambda plugin_id: permissions)
    listed = await made.core.gate.call(PLUGIN, "list_bots", {"call_id": "c:1"})
    assert [each["bot_id"] for each in listed["bots"]] == ["bot"]
    capabilities = await made.core.gate.call(PLUGIN, "get_bot_capabilities", {"call_id": "c:2", "bot_id": "bot"})
    assert capabilities["apis"] == ["get_friend_list"]

"""Tests skills in runs of the local agent: it sees them, activates them, and uses their files in the sandbox."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.harness import Json, texts
from tests.support.scripted_models import LOCAL, LOCAL_PLUGIN, MAIN, ScriptedModelsHost, calls
from tests.support.skills import adder, document, wheel, zipped

ADD = {"command": "python3 /workspace/.skills/adder/scripts/add.py 2 3"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModelsHost]:
    host = ScriptedModelsHost(tmp_path_factory.mktemp("skills"), PARLOUR__BOX__DOWNLOAD_WHEELS="false")
    host.install(LOCAL_PLUGIN)
    host.start()
    file, content = wheel("tinywheel", "from a wheel")
    pack = {
        **adder(),
        "wheeled/SKILL.md": document("wheeled", "Needs a package."),
        "wheeled/requirements.txt": b"tinywheel==1.0\n",
        f"wheeled/wheels/{file}": content,
        "lacking/SKILL.md": document("lacking", "Needs a package that is not here."),
        "lacking/requirements.txt": b"surely-not-here==9.9\n",
    }
    installed = host.http().post("/skills/install", files={"file": ("pack.zip", zipped(pack))})
    assert installed.status_code == 201, installed.text
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(host: ScriptedModelsHost) -> str:
    config = {"model": MAIN, "prompt": "Be kind."}
    policy = {"tools": ["exec", "read", "write", "glob"], "author_skills": True}
    return host.agent(LOCAL, config=config, resource_policy={"skills": "*"}, box_policy=policy)


def answers(host: ScriptedModelsHost, agent: str, *replies: Json, **event: Any) -> list[str]:
    """Returns what the model read from its tools."""
    host.write(*replies, "done")
    assert texts(host.ask(agent, "go on", **event)) == ["done"]
    return [each["content"] for each in host.requests()[-1]["messages"] if each["role"] == "tool"]


def test_skill_is_listed_activated_used_and_stays_active(host: ScriptedModelsHost, agent: str) -> None:
    chat = {"conversation_id": "stays"}
    said = answers(
        host,
        agent,
        calls(("box.exec", ADD)),
        calls(("activate_skill", {"name": "adder"})),
        calls(("box.exec", ADD)),
        calls(("box.exec", {"command": "cd /workspace/.skills; touch x; echo $?"})),
        calls(("box.exec", {"command": "echo x >> .skills/adder/SKILL.md; echo $?"})),
        calls(("box.read", {"path": ".skills/adder/SKILL.md"})),
        calls(("box.glob", {"pattern": ".skills/adder/**"})),
        **chat,
    )
    first = host.requests()[0]["messages"][0]["content"]
    assert "- adder: Adds numbers." in first
    assert "Run scripts/add.py." not in first
    assert "not active" in said[0]
    assert said[1].startswith("Run scripts/add.py.")
    assert "/workspace/.skills/adder/scripts/add.py" in said[1]
    assert said[2] == "5\n"
    assert said[3].startswith("1\n")
    assert "Read-only file system" in said[3]
    assert said[4].startswith("1\n")
    assert "name: adder" in said[5]
    assert said[6].splitlines() == [
        "/workspace/.skills/adder/SKILL.md",
        "/workspace/.skills/adder/scripts/add.py",
    ]

    assert answers(host, agent, calls(("box.exec", ADD)), **chat)[-1] == "5\n"
    assert "Run scripts/add.py." in host.requests()[0]["messages"][0]["content"]
    [elsewhere] = answers(host, agent, calls(("box.exec", ADD)), conversation_id="elsewhere")
    assert "not active" in elsewhere


def test_one_command_uses_one_skill(host: ScriptedModelsHost, agent: str) -> None:
    [refused] = answers(
        host, agent, calls(("box.exec", {"command": "ls .skills/adder .skills/wheeled"})), conversation_id="two"
    )
    assert "one command may use one skill" in refused


def test_python_skill_has_an_environment_of_its_own(host: ScriptedModelsHost, agent: str) -> None:
    use = {"command": "cd .skills/wheeled && python3 -c 'import tinywheel; print(tinywheel.ANSWER)'"}
    said = answers(
        host,
        agent,
        calls(("activate_skill", {"name": "wheeled"})),
        calls(("box.exec", use)),
        calls(("box.exec", {"command": "python3 -c 'import tinywheel'"})),
        calls(("activate_skill", {"name": "lacking"})),
        calls(("box.exec", {"command": "ls .skills/lacking"})),
        conversation_id="python",
    )
    assert said[1] == "from a wheel\n"
    assert "No module named 'tinywheel'" in said[2]
    assert "can't be installed" in said[4]
    assert "no network" in said[4]
    assert "box.download_wheels is off" in said[4]


def test_changed_skill_is_shown_in_its_new_version(host: ScriptedModelsHost, agent: str) -> None:
    chat = {"conversation_id": "changed"}
    show = calls(("box.exec", {"command": "cat .skills/adder/extra.txt; cat /workspace/mine.txt"}))
    first = answers(host, agent, calls(("activate_skill", {"name": "adder"})), calls(("box.write", MINE)), show, **chat)
    assert "No such file" in first[-1]
    host.http().put("/skills/adder/files/extra.txt", json={"text": "new\n"}).raise_for_status()
    assert answers(host, agent, show, **chat)[-1] == "new\nkept\n"


MINE = {"path": "mine.txt", "content": "kept\n"}


def test_agent_writes_a_skill_and_changes_only_its_own(host: ScriptedModelsHost, agent: str) -> None:
    written = document("greeter", "Greets people.", "Say hello.").decode()
    said = answers(
        host,
        agent,
        calls(("box.write", {"path": "drafts/greeter/SKILL.md", "content": written})),
        calls(("box.write", {"path": "drafts/greeter/words.txt", "content": "hello"})),
        calls(("skills.register_skill", {"path": "/workspace/drafts/greeter"})),
        calls(("skills.edit_skill", {"name": "greeter", "path": "words.txt", "old": "hello", "new": "good day"})),
        calls(("skills.edit_skill", {"name": "adder", "path": "SKILL.md", "content": "x"})),
        conversation_id="author",
    )
    assert said[2] == "Installed the skill greeter with 2 files."
    assert said[3] == "Changed words.txt of the skill greeter."
    assert "did not write" in said[4]
    assert host.http().get("/skills/greeter/files/words.txt").json()["text"] == "good day"
    assert host.http().get("/skills/greeter").json()["installed_by"] == f"agent:{agent}"


def test_agent_without_the_right_has_no_tool_to_write_skills(host: ScriptedModelsHost) -> None:
    plain = host.agent(LOCAL, config={"model": MAIN}, box_policy={"tools": ["exec"]})
    answers(host, plain)
    assert not [each for each in host.requests()[0]["tools"] if each["name"].startswith("skills.")]


def test_workspace_can_not_lead_the_mounts_elsewhere(host: ScriptedModelsHost, agent: str) -> None:
    chat = {"conversation_id": "link"}
    bare = host.agent(LOCAL, config={"model": MAIN}, resource_policy={"skills": []}, box_policy={"tools": ["exec"]})
    plant = "rm -rf .skills; ln -s ../../oldroot/tmp .skills; ls -la .skills; sleep 30"
    answers(host, bare, calls(("box.exec", {"command": plant, "timeout_sec": 0.5})), **chat)
    said = answers(host, agent, calls(("activate_skill", {"name": "adder"})), calls(("box.exec", ADD)), **chat)
    assert said[1] == "5\n"

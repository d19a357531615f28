"""Tests that the Python packages of skills reach sandboxes without a network: downloaded once, and only for people."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from tests.support.harness import Json, texts
from tests.support.scripted_models import LOCAL, LOCAL_PLUGIN, MAIN, ScriptedModelsHost, calls
from tests.support.skills import document, zipped
from tests.support.wheels import IndexRequests, package_index, write_index, write_wheel

pytestmark = pytest.mark.long
USE = "cd /workspace/.skills/{name} && python3 -c 'import indexed; print(indexed.ANSWER)'"


class Index(IndexRequests):
    """The package index of these tests."""

    fetched: ClassVar[list[str]] = []


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("index")
    wheel = write_wheel(folder / "files", "indexed", {"indexed.py": "ANSWER = 'from the index'\n"})
    write_index(folder, wheel)
    with package_index(folder, Index) as address:
        yield address


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, index: str) -> Iterator[ScriptedModelsHost]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_INDEX_URL", index)
        host = ScriptedModelsHost(tmp_path_factory.mktemp("packages"))
        host.install(LOCAL_PLUGIN)
        host.start()
    pack = {
        "first/SKILL.md": document("first"),
        "first/requirements.txt": b"indexed==1.0\n",
        "second/SKILL.md": document("second"),
        "second/requirements.txt": b"indexed==1.0\n",
        "absent/SKILL.md": document("absent"),
        "absent/requirements.txt": b"surely-not-here==9.9\n",
    }
    installed = host.http().post("/skills/install", files={"file": ("pack.zip", zipped(pack))})
    assert installed.status_code == 201, installed.text
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(host: ScriptedModelsHost) -> str:
    policy = {"tools": ["exec", "write"], "author_skills": True}
    return host.agent(LOCAL, config={"model": MAIN}, resource_policy={"skills": "*"}, box_policy=policy)


def used(host: ScriptedModelsHost, agent: str, name: str, chat: str) -> str:
    """Returns what a command that uses the skill's package prints."""
    return answers(host, agent, chat, activation(name), use(name))[-1]


def answers(host: ScriptedModelsHost, agent: str, chat: str, *replies: Json) -> list[str]:
    host.write(*replies, "done")
    assert texts(host.ask(agent, "go on", conversation_id=chat)) == ["done"]
    return [each["content"] for each in host.requests()[-1]["messages"] if each["role"] == "tool"]


def activation(name: str) -> Json:
    return calls(("activate_skill", {"name": name}))


def use(name: str) -> Json:
    return calls(("box.exec", {"command": USE.format(name=name)}))


def test_packages_are_downloaded_once_for_all_sandboxes_without_a_network(host: ScriptedModelsHost, agent: str) -> None:
    assert used(host, agent, "first", "one") == "from the index\n"
    assert used(host, agent, "first", "two") == "from the index\n"
    assert used(host, agent, "second", "three") == "from the index\n"
    assert Index.fetched == ["indexed-1.0-py3-none-any.whl"]
    wheels = host.data / "box" / "wheels"
    [folder] = wheels.iterdir()
    assert os.listdir(folder) == ["indexed-1.0-py3-none-any.whl"]
    titles = [each["title"] for each in host.items("/box/sessions")]
    assert not [title for title in titles if title.startswith("Packages")], "the sandbox with a network has ended"
    assert {each["network"] for each in host.items("/box/sessions")} == {False}


def test_package_that_no_index_has_is_named_with_the_reason(host: ScriptedModelsHost, agent: str) -> None:
    said = used(host, agent, "absent", "four")
    assert "can't be installed" in said
    assert "The Host has not downloaded them" in said
    assert "surely-not-here" in said


def test_requirements_that_an_agent_has_written_are_not_downloaded(host: ScriptedModelsHost, agent: str) -> None:
    files = {"SKILL.md": document("own").decode(), "requirements.txt": "indexed>=0.1\n"}
    writes = [calls(("box.write", {"path": f"own/{path}", "content": text})) for path, text in files.items()]
    register = calls(("skills.register_skill", {"path": "/workspace/own"}))
    fetched = len(Index.fetched)
    said = answers(host, agent, "five", *writes, register)
    assert said[-1].startswith("Installed the skill own")
    assert "only for skills that a person has installed" in used(host, agent, "own", "six")
    assert len(Index.fetched) == fetched
    assert len(list(Path(host.data, "box", "wheels").iterdir())) == 1

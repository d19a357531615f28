"""Tests `parlour plugin new`: the created plugin works at once, and existing files are left alone."""

import subprocess
from pathlib import Path

import pytest

from tests.support.commands import PARLOUR, clean_environment, parlour_here, refusal
from tests.support.harness import Host, texts


def run_plugin_command(*arguments: object, folder: Path, said: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a command in a process of its own, because it becomes another program."""
    return subprocess.run(
        [PARLOUR, "plugin", *map(str, arguments)],
        cwd=folder,
        env=clean_environment(None),
        input=said,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.long  # the README's walkthrough and the page about a first agent do it too
@pytest.mark.parametrize(
    ("options", "path", "tests"),
    [
        pytest.param([], "my-agent", "4 passed", id="folder"),
        pytest.param(["--one-file"], "my_agent.py", "2 passed", id="one file"),
    ],
)
def test_a_created_plugin_is_tested_used_in_a_chat_and_installed_unchanged(
    tmp_path: Path, host: Host, options: list[str], path: str, tests: str
) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    identity = f"me/my-agent-{len(options)}"
    name = identity.partition("/")[2]
    path = path.replace("my-agent", name).replace("my_agent", name.replace("-", "_"))
    made = run_plugin_command("new", identity, *options, folder=folder)
    assert made.returncode == 0, made.stderr
    assert f"parlour plugin test {path}" in made.stdout

    tested = run_plugin_command("test", path, folder=folder)
    assert tests in tested.stdout
    assert tested.returncode == 0
    assert "warning" not in tested.stdout + tested.stderr
    talked = run_plugin_command("chat", path, folder=folder, said="good morning\nand good evening\n")
    assert talked.stdout == "Hello! Message 1 was: good morning\nHello! Message 2 was: and good evening\n"
    assert talked.stderr == ""

    host.install(folder / path)
    agent = host.agent(f"plugin:{identity}/default", config={"greeting": "Ahoy!"})
    assert texts(host.ask(agent, "good morning")) == ["Ahoy! Message 1 was: good morning"]


@pytest.mark.long  # the page about agent services does it too
def test_a_created_service_agent_keeps_the_contract_of_runners(tmp_path: Path) -> None:
    made = run_plugin_command("new", "me/my-service", "--kind", "http-agent", folder=tmp_path)
    assert made.stdout.startswith("made my-service: me/my-service, an agent service"), made.stderr

    tested = run_plugin_command("test", "my-service", folder=tmp_path)

    assert tested.returncode == 0, tested.stdout
    assert "28 passed" in tested.stdout


def test_a_service_agent_is_a_folder(tmp_path: Path) -> None:
    said = refusal("plugin", "new", "me/hello", "--one-file", "--kind", "http-agent", "--into", tmp_path)

    assert "leave it out for --kind http-agent" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "identity", ["me/hello", "Übung/Größe", "a.b/c-d_e.f", "1/2", "true/null", "x/class", "me/x--y"]
)
@pytest.mark.parametrize(
    "options", [[], ["--one-file"], ["--kind", "http-agent"]], ids=["folder", "one file", "service"]
)
def test_every_valid_identity_creates_a_plugin_of_that_identity(
    tmp_path: Path, identity: str, options: list[str]
) -> None:
    assert parlour_here("plugin", "new", identity, *options, "--into", tmp_path).returncode == 0

    [made] = [each for each in tmp_path.iterdir() if not each.name.startswith("test_")]
    valid = parlour_here("plugin", "validate", made)
    assert valid.stdout == f"{identity} 0.1.0 is in order: AgentRunner default\n", valid.stderr


@pytest.mark.parametrize(
    ("identity", "named"),
    [
        ("hello", "AUTHOR/NAME"),
        ("/hello", "AUTHOR/NAME"),
        ("me/", "AUTHOR/NAME"),
        ("me/a/b", "'a/b'"),
        ("me/.hidden", "'.hidden'"),
        ("../me/x", "'..'"),
        ("me/two words", "'two words'"),
        (f"me/{'x' * 101}", "at most 100"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--one-file"]], ids=["folder", "one file"])
def test_an_invalid_identity_is_refused_and_nothing_is_created(
    tmp_path: Path, identity: str, named: str, options: list[str]
) -> None:
    assert named in refusal("plugin", "new", identity, *options, "--into", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("there", "options"), [("hello", []), ("hello.py", ["--one-file"]), ("test_hello.py", ["--one-file"])]
)
def test_existing_files_are_named_and_left_alone(tmp_path: Path, there: str, options: list[str]) -> None:
    (tmp_path / there).write_text("precious")

    said = refusal("plugin", "new", "me/hello", *options, "--into", tmp_path)

    assert f"{tmp_path / there} is there already" in said
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {there: "precious"}


def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert f"{tmp_path / 'file' / 'hello'} can't be written" in refusal(
        "plugin", "new", "me/hello", "--into", tmp_path / "file"
    )

"""Tests `parlour plugin validate`, `test` and `build`: their reports on valid plugins, and the files they leave out."""

import hashlib
import os
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.support.commands import PARLOUR, Finished, clean_environment, parlour_here, refusal
from tests.support.harness import ECHO_PLUGIN, Host, eventually, texts
from tests.support.plugins import write_plugin

SIX = "six==1.17.0\n"
TEST_SIX = "import six\n\n\ndef test_it_is_there():\n    assert six.__version__ == '1.17.0'\n"
TOOL = """plugin("test/curious", version="0.1.0")


@tool(read_only=True)
async def add(a: int, b: int) -> int:
    \"\"\"Adds two numbers.\"\"\"
    return a + b
"""
FAILING = "def test_it_fails():\n    assert 1 == 2\n"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return write_plugin(tmp_path / "a plugin", "authored")


def with_test(plugin: Path, code: str) -> Path:
    (plugin / "tests").mkdir()
    (plugin / "tests" / "test_it.py").write_text(code)
    return plugin


def run_tests(plugin: Path, *arguments: str, **environment: str) -> Finished:
    """Runs the command in a process of its own, which becomes pytest."""
    command = [str(PARLOUR), "plugin", "test", str(plugin), *arguments]
    environment = clean_environment(environment)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)


def entries(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def test_a_valid_plugin_is_reported_with_its_components(plugin: Path) -> None:
    done = parlour_here("plugin", "validate", plugin)

    assert (done.returncode, done.stdout) == (0, "test/authored 0.1.0 is in order: AgentRunner default\n")


def test_printed_output_of_an_imported_plugin_does_not_affect_the_result(tmp_path: Path) -> None:
    noisy = write_plugin(tmp_path / "noisy", "noisy", prelude='print(\'{"problem": "me"}\')')

    assert parlour_here("plugin", "validate", noisy).stdout.startswith("test/noisy 0.1.0 is in order")


def test_plugin_code_that_ends_its_process_is_reported(tmp_path: Path) -> None:
    deadly = write_plugin(tmp_path / "deadly", "deadly", prelude="import os\nos._exit(7)")

    assert "ended the process while it was imported (status 7)" in refusal("plugin", "validate", deadly)


def test_plugin_code_that_never_returns_is_given_up(tmp_path: Path) -> None:
    endless = write_plugin(tmp_path / "endless", "endless", prelude="while True:\n    pass")

    said = refusal("plugin", "validate", endless, environment={"PARLOUR__PLUGINS__START_SECONDS": "1"})

    assert "took longer than 1 s" in said


def test_a_thread_of_the_plugin_does_not_delay_the_result(tmp_path: Path) -> None:
    prelude = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()"
    started_at = time.monotonic()

    assert parlour_here("plugin", "validate", write_plugin(tmp_path / "busy", "busy", prelude=prelude)).returncode == 0

    assert time.monotonic() - started_at < 60


def test_an_imported_plugin_sees_no_secret_of_the_environment(tmp_path: Path) -> None:
    prelude = "import os\nassert 'OUR_SECRET' not in os.environ, 'seen'"
    curious = write_plugin(tmp_path / "curious", "curious", prelude=prelude)

    done = parlour_here("plugin", "validate", curious, environment={"OUR_SECRET": "1"})

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("form", ["folder", "file"])
def test_a_plugin_is_imported_in_the_sandbox(tmp_path: Path, form: str) -> None:
    (tmp_path / "secret").write_text("of the author")
    prelude = f"import os\nassert not os.path.exists({str(tmp_path / 'secret')!r}), 'it sees the files of its author'"
    curious = write_plugin(tmp_path / "curious", "curious", prelude=prelude)
    if form == "file":
        curious = tmp_path / "curious.py"
        curious.write_text(f"{prelude}\n\nfrom parlour_sdk import plugin, tool\n\n{TOOL}")

    done = parlour_here("plugin", "validate", curious)

    assert done.returncode == 0, done.stderr
    unboxed = refusal("plugin", "validate", curious, environment={"PARLOUR__PLUGINS__SANDBOX": "off"})
    assert "it sees the files of its author" in unboxed


def test_nothing_is_imported_if_a_required_sandbox_is_missing(plugin: Path) -> None:
    missing = {"PARLOUR__PLUGINS__SANDBOX": "required", "PARLOUR__PLUGINS__BUBBLEWRAP": "/no/such/bwrap"}

    assert "/no/such/bwrap" in refusal("plugin", "validate", plugin, environment=missing)


@pytest.mark.long
def test_arguments_are_passed_to_pytest_and_a_failing_test_sets_the_exit_status(plugin: Path) -> None:
    done = run_tests(with_test(plugin, f"{FAILING}\n\ndef test_other():\n    pass\n"), "-q", "-k", "fails")

    assert done.returncode == 1
    assert "assert 1 == 2" in done.stdout
    assert "1 failed, 1 deselected" in done.stdout


def test_the_message_for_a_plugin_without_tests_says_where_they_belong(plugin: Path) -> None:
    assert f"write {plugin / 'tests' / 'test_agent.py'}" in refusal("plugin", "test", plugin)


@pytest.mark.long
def test_tests_run_with_the_plugins_requirements_and_pytest_installed(tmp_path: Path) -> None:
    """Installs a real package from the real registry."""
    plugin = with_test(write_plugin(tmp_path / "plugin", "needy", prelude="import six", requirements=SIX), TEST_SIX)

    done = run_tests(plugin, XDG_CACHE_HOME=str(tmp_path / "cache"))

    assert "1 passed" in done.stdout, done.stderr
    assert len(list((tmp_path / "cache/parlour/environments").glob("*/bin/pytest"))) == 1


def test_an_unavailable_requirement_is_named(tmp_path: Path) -> None:
    plugin = write_plugin(tmp_path / "plugin", "needy", requirements="parlour-test-no-such-package==1.0\n")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    finished = parlour_here("plugin", "validate", plugin, environment=cache)

    assert finished.returncode == 1
    assert "its requirement 'parlour-test-no-such-package==1.0' can't be installed" in finished.stderr


def test_the_same_files_make_the_same_bytes(plugin: Path, tmp_path: Path) -> None:
    first = parlour_here("plugin", "build", plugin)
    again = tmp_path / "elsewhere" / "b"
    again.mkdir(parents=True)
    for file in sorted((each for each in plugin.rglob("*") if each.is_file()), reverse=True):
        (again / file.name).write_bytes(file.read_bytes())
        os.utime(again / file.name, (1_000_000_000, 1_000_000_000))
    second = parlour_here("plugin", "build", again, "-o", tmp_path / "second.zip")

    assert (first.returncode, second.returncode) == (0, 0)
    archive = tmp_path / "test-authored-0.1.0.zip"
    assert archive.read_bytes() == (tmp_path / "second.zip").read_bytes()
    content = archive.read_bytes()
    facts = f"{len(content)} bytes  sha256 {hashlib.sha256(content).hexdigest()}"
    assert first.stdout == f"{archive}  {facts}\n"


def test_caches_environments_and_tests_stay_out(plugin: Path, tmp_path: Path) -> None:
    for name in ("__pycache__", ".git", ".venv", "venv", ".pytest_cache", "tests"):
        (plugin / name).mkdir()
        (plugin / name / "file").write_text("")
    (plugin / "data.txt").write_text("kept")

    assert parlour_here("plugin", "build", plugin, "-o", tmp_path / "built.zip").returncode == 0

    assert entries(tmp_path / "built.zip") == ["data.txt", "default.yaml", "manifest.yaml", "runner.py"]


def test_a_built_plugin_is_installed_and_answers(host: Host, tmp_path: Path) -> None:
    plugin = write_plugin(tmp_path / "plugin", "built", answer="from a zip")
    (plugin / "script.sh").write_text("#!/bin/sh\n")
    (plugin / "script.sh").chmod(0o755)
    assert parlour_here("plugin", "build", plugin, "-o", tmp_path / "built.zip").returncode == 0

    host.install(tmp_path / "built.zip")

    assert texts(host.ask(host.agent("plugin:test/built/default"), "where from?")) == ["from a zip"]
    [script] = (host.data / "plugins/test/built").glob("*/script.sh")
    assert os.access(script, os.X_OK)


def test_a_built_plugin_says_which_release_it_needs(tmp_path: Path) -> None:
    assert parlour_here("plugin", "build", ECHO_PLUGIN, "-o", tmp_path / "built.zip").returncode == 0

    with zipfile.ZipFile(tmp_path / "built.zip") as built:
        manifest = yaml.safe_load(built.read("manifest.yaml"))
    assert manifest["spec"]["requires"] == {"parlour": ">=0.1"}
    assert manifest["spec"]["components"] == ["components/runners/default.yaml"]


def test_a_single_file_plugin_is_built_as_a_folder(tmp_path: Path) -> None:
    parlour_here("plugin", "new", "me/single", "--one-file", "--into", tmp_path)

    assert parlour_here("plugin", "build", tmp_path / "single.py").returncode == 0

    assert entries(tmp_path / "me-single-0.1.0.zip") == ["main.py", "manifest.yaml"]


@pytest.mark.parametrize(
    ("output", "named"),
    [("a plugin/x.zip", "would become part of it"), ("absent/x.zip", "can't be written: No such file or directory")],
)
def test_an_unusable_output_path_is_refused_and_nothing_is_left(plugin: Path, output: str, named: str) -> None:
    before = sorted(plugin.parent.rglob("*"))

    assert named in refusal("plugin", "build", plugin, "-o", plugin.parent / output)

    assert sorted(plugin.parent.rglob("*")) == before


LISTENER = """\
from parlour_sdk import on, plugin, results, runner, tool

plugin("test/odd", version="1.0")


@tool
async def greet(name: str):
    \"\"\"Greets.\"\"\"
    return f"Hello {name}"


@on("group.member_joined")
async def welcome(event, ctx):
    await ctx.reply("welcome")


@runner(
    permissions={"tools": ["call"]},
    config=[
        {"name": "tools", "type": "tool-multi-selector", "default": ["greet", "time.now", "time.then"]},
        {"name": "times", "type": "integer", "default": "three"},
    ],
)
async def agent(ctx, api):
    yield results.completed("hello")
    yield results.finished()
"""
WARNINGS = (
    "welcome will never hear of 'group.member_joined'; add it to the plugin's permissions.events",
    "'tools' names the tool 'greet', which no Host has; did you mean test/odd.greet?",
    "'tools' names the tool 'time.then', which no Host has",
    "the default of 'times' must be of type integer, not str",
)


@pytest.fixture
def plugin_with_warnings(tmp_path: Path) -> Path:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "odd.py").write_text(LISTENER)
    return folder / "odd.py"


def notes(finished: Finished) -> list[str]:
    return [line for line in finished.stdout.splitlines() if line.startswith("  note: ")]


def test_validate_and_test_print_the_warnings_of_the_workers_log(plugin_with_warnings: Path) -> None:
    (plugin_with_warnings.parent / "test_odd.py").write_text("def test_it():\n    pass\n")

    for printed in (
        notes(parlour_here("plugin", "validate", plugin_with_warnings)),
        notes(run_tests(plugin_with_warnings)),
    ):
        assert len(printed) == len(WARNINGS), printed
        assert all(any(sentence in line for line in printed) for sentence in WARNINGS), printed


def test_the_workers_log_has_the_warnings(plugin_with_warnings: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host")
    try:
        host.install(plugin_with_warnings)
        host.start()
        log = host.data / "logs" / "plugins" / "test" / "odd.log"
        eventually(
            lambda: log.exists() and all(each in log.read_text() for each in WARNINGS), "the warnings are logged", 30
        )
        assert "Traceback" not in log.read_text()
    finally:
        host.close()


def test_a_component_file_that_is_not_listed_is_reported(plugin: Path) -> None:
    spare = plugin / "components" / "tools" / "spare.yaml"
    spare.parent.mkdir(parents=True)
    spare.write_text("apiVersion: parlour/v1\nkind: Tool\nmetadata: {name: spare}\n")
    (spare.parent / "data.yaml").write_text("kind: Tool\n")

    [note] = notes(parlour_here("plugin", "validate", plugin))

    assert note.endswith(
        "this Tool is not loaded; add `- components/tools/spare.yaml` to spec.components of manifest.yaml"
    )


ENGINE = """\
from parlour_sdk import KnowledgeEngine


class Engine(KnowledgeEngine):
    async def ingest(self, kb_id, file, ctx):
        return ctx.config["size"]

    async def retrieve(self, kb_id, query, top_k, filters, ctx):
        return []

    async def delete(self, kb_id, file_id, ctx):
        return None
"""
ENGINE_FILE = """\
apiVersion: parlour/v1
kind: KnowledgeEngine
metadata: {name: engine}
spec:
  config_schema:
    - {name: size, label: {en_US: Size}, type: integer, default: many}
execution: {python: {path: engine.py, attr: Engine}}
"""


def test_an_invalid_default_in_an_engines_form_is_reported(plugin: Path) -> None:
    (plugin / "engine.py").write_text(ENGINE)
    (plugin / "engine.yaml").write_text(ENGINE_FILE)
    manifest = (plugin / "manifest.yaml").read_text()
    assert "components: [" in manifest
    (plugin / "manifest.yaml").write_text(manifest.replace("components: [", "components: [engine.yaml, "))

    [note] = notes(parlour_here("plugin", "validate", plugin))

    assert note.endswith("config_schema: the default of 'size' must be of type integer, not str")

"""Tests single-file plugins: declared by literals, read without running them, and equal to their packaged folder."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import LoadedPlugin, PluginInvalid, load, package_files, read_plugin
from parlour_sdk.protocol.components import ComponentSummary
from parlour_sdk.protocol.manifest import AgentRunnerManifest

from .one_file import HEAD, IDENTITY, write

HELLO = '''\
"""A plugin with everything."""

from __future__ import annotations

import parlour_sdk as sdk
from parlour_sdk import EventContext, ToolContext, command, on, plugin, results, runner
from parlour_sdk import tool as as_tool

plugin(
    "acme/hello",
    version="0.1.0",
    label="Hello",
    description={"en_US": "Greets", "zh_Hans": "问候"},
    permissions={"platform_api": ("message.send",), "events": ["message.*"], "network": ["api.example.org"]},
    limits={"max_runs": 7},
    requirements=["httpx>=0.28", "rich"],
)


@runner(
    label="Greeter",
    capabilities=["streaming", "interrupt"],
    permissions={"models": ["invoke"]},
    context={"bootstrap": "recent_tail"},
    config=[
        {"name": "tone", "type": "select", "label": "Tone", "options": ["warm", "dry"]},
        {"name": "n", "type": "integer"},
    ],
)
async def greet(ctx, api):
    """Greets whoever comes.

    And more."""
    yield results.completed(f"Hello, {ctx.input.text}")
    yield results.finished()


@runner(name="second", capabilities={"streaming": True, "steering": False})
async def greet_again(ctx, api):
    yield results.silent()


@as_tool(read_only=True)
async def weather(city: str, days: int = 1, ctx: ToolContext = None) -> str:
    """The weather of a city.

    city: its name
    """
    return f"{city} {days}"


@sdk.tool
async def bare() -> str:
    """Does little."""
    return "bare"


@on("message.received", priority=5)
@on("group.member_joined")
async def listen(event, ctx: EventContext):
    ctx.variables["heard"] = event.type


@on("*", observe=True)
async def watch(event, ctx):
    pass


@command("ping", usage="/ping", aliases=("p",))
async def ping(ctx):
    """Answers."""
    return "pong"


async def no_component():
    pass
'''


@pytest.fixture
def file(workshop: Path) -> Path:
    file = workshop / "hello.py"
    file.write_text(HELLO)
    return file


def summaries_of(plugin: LoadedPlugin) -> dict[tuple[str, str], ComponentSummary]:
    summaries = [ComponentSummary.model_validate(each) for each in plugin.components]
    return {(each.kind, each.name): each for each in summaries}


def test_a_file_is_read_without_running_it(file: Path) -> None:
    file.write_text(HELLO + "\nraise SystemExit('the file was run')\n")
    plugin = read_plugin(file)
    metadata = plugin.manifest.metadata
    assert (plugin.manifest.identity, metadata.version) == ("acme/hello", "0.1.0")
    assert metadata.label == {"en_US": "Hello"}
    assert metadata.description == {"en_US": "Greets", "zh_Hans": "问候"}
    assert plugin.manifest.spec.permissions.platform_api == ["message.send"]
    assert plugin.manifest.spec.permissions.network == ["api.example.org"]
    assert plugin.manifest.spec.limits.max_runs == 7
    assert plugin.requirements == ("httpx>=0.28", "rich")
    assert plugin.warnings == ()
    assert [(each.manifest.kind, each.name) for each in plugin.components] == [
        ("AgentRunner", "default"),
        ("AgentRunner", "second"),
        ("Tool", "weather"),
        ("Tool", "bare"),
        ("EventListener", "listen"),
        ("EventListener", "watch"),
        ("Command", "ping"),
    ]


def test_a_decorated_runner_has_the_manifest_of_its_declaration(file: Path) -> None:
    manifests = read_plugin(file).runner_manifests()
    default, second = (AgentRunnerManifest.model_validate(manifests[name]) for name in ("default", "second"))
    assert default.id == "plugin:acme/hello/default"
    assert default.label == {"en_US": "Greeter"}
    assert default.description == {"en_US": "Greets whoever comes.\n\nAnd more."}
    assert (default.capabilities.streaming, default.capabilities.interrupt) == (True, True)
    assert default.permissions.models == ["invoke"]
    assert default.context.bootstrap == "recent_tail"
    tone, count = default.config_schema
    assert (tone.label, [each.value for each in tone.options or []]) == ({"en_US": "Tone"}, ["warm", "dry"])
    assert count.label == {"en_US": "n"}
    assert (second.capabilities.streaming, second.capabilities.steering) == (True, False)


def test_a_loaded_file_has_details_that_only_its_code_has(file: Path) -> None:
    plugin = load(read_plugin(file))
    assert set(plugin.runners) == {"default", "second"}
    components = summaries_of(plugin)
    weather = components["Tool", "weather"]
    assert weather.description == {"en_US": "The weather of a city."}
    assert weather.spec["read_only"] is True
    assert weather.spec["parameters"]["required"] == ["city"]
    assert weather.spec["parameters"]["properties"]["city"]["description"] == "its name"
    assert components["EventListener", "listen"].spec["handlers"] == [
        {"name": "listen", "event": "message.received", "priority": 5, "observe": False},
        {"name": "listen", "event": "group.member_joined", "priority": 0, "observe": False},
    ]
    assert components["EventListener", "watch"].spec["handlers"][0]["observe"] is True
    assert components["Command", "ping"].spec == {"usage": "/ping", "aliases": ["p"]}


async def test_a_decorated_function_stays_a_function(file: Path) -> None:
    load(read_plugin(file))
    import plugin_hello  # type: ignore[import-not-found]

    assert await plugin_hello.weather("Oslo") == "Oslo 1"
    assert await plugin_hello.ping(None) == "pong"


def unpacked(file: Path, folder: Path) -> Path:
    folder.mkdir()
    for name, content in package_files(file).items():
        (folder / name).write_bytes(content)
    return folder


def test_a_packaged_file_is_the_same_plugin(file: Path, workshop: Path) -> None:
    folder = unpacked(file, workshop / "packaged")
    assert sorted(each.name for each in folder.iterdir()) == ["main.py", "manifest.yaml", "requirements.txt"]
    assert (folder / "requirements.txt").read_text() == "httpx>=0.28\nrich\n"
    one, other = read_plugin(file), read_plugin(folder)
    assert other.warnings == ()
    assert (other.manifest.metadata, other.manifest.spec) == (one.manifest.metadata, one.manifest.spec)
    assert other.manifest.execution.requirements == "requirements.txt"
    assert other.runner_manifests() == one.runner_manifests()
    assert summaries_of(load(other)) == summaries_of(load(one))


def test_a_package_without_requirements_has_no_requirements_file(workshop: Path) -> None:
    file = write(workshop / "a.py", 'from parlour_sdk import plugin\nplugin("acme/a", version="1")\n')
    assert sorted(package_files(file)) == ["main.py", "manifest.yaml"]


def test_a_folder_can_not_be_packaged_again(folder: Path) -> None:
    with pytest.raises(PluginInvalid, match="is a folder already"):
        package_files(folder)


def test_a_packaged_file_that_differs_from_its_manifest_has_warnings(file: Path, workshop: Path) -> None:
    folder = unpacked(file, workshop / "packaged")
    manifest = folder / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("0.1.0", "0.2.0").replace("api.example.org", "example.net"))
    plugin = read_plugin(folder)
    assert plugin.manifest.metadata.version == "0.2.0"
    assert [warning.split(": ", 1)[1] for warning in plugin.warnings] == [
        "plugin(...) says another identity, version, label or description than manifest.yaml; manifest.yaml counts",
        "plugin(...) says another set of permissions or limits than manifest.yaml; manifest.yaml counts",
    ]


MAIN = """
from parlour_sdk import Plugin, on, tool


class Main(Plugin):
    async def initialize(self, api):
        pass


@tool
async def look(at: str) -> str:
    '''Looks.'''
    return at
"""


def test_a_folders_main_file_may_declare_components_beside_component_files(folder: Path) -> None:
    (folder / "main.py").write_text(MAIN)
    with (folder / "manifest.yaml").open("a") as manifest:
        manifest.write("execution: {python: {path: main.py, attr: Main}}\n")
    plugin = load(read_plugin(folder))
    assert (list(plugin.runners), list(plugin.tools)) == (["default"], ["look"])
    assert type(plugin.main).__name__ == "Main"


def test_decorators_of_other_modules_declare_no_component(workshop: Path) -> None:
    text = (
        HEAD.replace("tool, ", "") + IDENTITY + "from functools import cache as tool\n\n@tool\ndef go(): pass\n"
        "import functools\n@functools.cache\ndef stay(): pass\n"
    )
    plugin = load(read_plugin(write(workshop / "hello.py", text)))
    assert plugin.components == ()


def test_the_plugin_function_and_the_plugin_package_are_the_same_object() -> None:
    """The function that a plugin calls and the package that reads it have the same name."""
    import parlour_sdk
    import parlour_sdk.plugin as package
    from parlour_sdk import plugin

    called: Any = plugin
    assert called is package is parlour_sdk.plugin
    assert called("acme/hello", version="1") is None
    with pytest.raises(TypeError, match="lable"):
        called("acme/hello", version="1", lable="x")

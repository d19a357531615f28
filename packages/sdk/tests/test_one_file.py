"""A plugin of one Python file: declared by literals, read without running, and the same thing as a folder."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parlour_sdk.plugin import LoadedPlugin, PluginInvalid, load, package_files, read_plugin
from parlour_sdk.protocol.components import ComponentSummary
from parlour_sdk.protocol.manifest import AgentRunnerManifest

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


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def told(plugin: LoadedPlugin) -> dict[tuple[str, str], ComponentSummary]:
    summaries = [ComponentSummary.model_validate(each) for each in plugin.components]
    return {(each.kind, each.name): each for each in summaries}


def test_the_file_is_read_without_running_it(file: Path) -> None:
    file.write_text(HELLO + "\nraise SystemExit('nobody asked for me')\n")
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


def test_a_decorated_runner_has_the_manifest_that_a_file_would_give_it(file: Path) -> None:
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


def test_the_loaded_file_tells_what_only_its_code_knows(file: Path) -> None:
    plugin = load(read_plugin(file))
    assert set(plugin.runners) == {"default", "second"}
    components = told(plugin)
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


def test_packaged_it_is_the_same_plugin_in_a_folder(file: Path, workshop: Path) -> None:
    folder = unpacked(file, workshop / "packaged")
    assert sorted(each.name for each in folder.iterdir()) == ["main.py", "manifest.yaml", "requirements.txt"]
    assert (folder / "requirements.txt").read_text() == "httpx>=0.28\nrich\n"
    one, other = read_plugin(file), read_plugin(folder)
    assert other.warnings == ()
    assert (other.manifest.metadata, other.manifest.spec) == (one.manifest.metadata, one.manifest.spec)
    assert other.manifest.execution.requirements == "requirements.txt"
    assert other.runner_manifests() == one.runner_manifests()
    assert told(load(other)) == told(load(one))


def test_without_requirements_there_is_no_file_for_them(workshop: Path) -> None:
    file = written(workshop / "a.py", 'from parlour_sdk import plugin\nplugin("acme/a", version="1")\n')
    assert sorted(package_files(file)) == ["main.py", "manifest.yaml"]


def test_a_folder_can_not_be_packaged_again(folder: Path) -> None:
    with pytest.raises(PluginInvalid, match="is a folder already"):
        package_files(folder)


def test_a_packaged_file_that_says_other_than_its_manifest_is_warned_about(file: Path, workshop: Path) -> None:
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


HEAD = "from parlour_sdk import plugin, runner, tool, on, command, results\n"
IDENTITY = 'plugin("acme/hello", version="1")\n'
RUNNER = "async def go(ctx, api):\n    yield\n"
TOOL = "async def go(x: str):\n    '''Goes.'''\n    return x\n"
CASES: dict[str, tuple[str, int | None, str]] = {
    "no declaration": (
        HEAD,
        None,
        'declares no plugin; write `from parlour_sdk import plugin` and plugin("acme/hello"',
    ),
    "nothing at all": ("", None, "declares no plugin"),
    "two declarations": (HEAD + IDENTITY + IDENTITY, 3, "plugin(...) is called a second time (the first is at"),
    "not Python": ("def (:\n", 1, "this is not Python: "),
    "a null byte": ("x = '\0'\n", None, "this is not Python: "),
    "no version": (HEAD + 'plugin("acme/hello")\n', 2, "plugin(...): version is missing"),
    "no identity": (HEAD + 'plugin(version="1")\n', 2, "plugin(...): identity is missing"),
    "a number for a version": (
        HEAD + 'plugin("acme/hello", version=1)\n',
        2,
        "version: Input should be a valid string; put it in quotes: '1'",
    ),
    "an identity without an author": (
        HEAD + 'plugin("hello", version="1")\n',
        2,
        "the first argument is author/name, such as 'acme/hello'",
    ),
    "an identity that is a number": (HEAD + 'plugin(5, version="1")\n', 2, "the first argument is author/name"),
    "an identity with a path": (
        HEAD + 'plugin("acme/../x", version="1")\n',
        2,
        "'../x' can't be part of an identity; use letters",
    ),
    "an identity with a space": (HEAD + 'plugin("ac me/x", version="1")\n', 2, "'ac me' can't be part of an identity"),
    "a computed version": (
        HEAD + 'V = "1"\nplugin("acme/hello",\n  version=V)\n',
        4,
        "version must be written out as a literal; it is read without running",
    ),
    "computed arguments": (HEAD + 'plugin("acme/hello", **{"version": x})\n', 2, "must be written out as a literal"),
    "a wrong argument": (
        HEAD + 'plugin("acme/hello", version="1", lable="x")\n',
        2,
        "there is no argument 'lable'; did you mean label?",
    ),
    "a positional argument too many": (HEAD + 'plugin("acme/hello", "1")\n', 2, "name the arguments"),
    "an unknown permission": (
        HEAD + 'plugin("acme/hello", version="1",\n  permissions={"modells": []})\n',
        3,
        "permissions.modells: there is none of this name; known are agent_runs",
    ),
    "a permission of another value": (
        HEAD + 'plugin("acme/hello", version="1",\n  permissions={"models": ["invoek"]})\n',
        3,
        "did you mean invoke?",
    ),
    "a limit out of bounds": (
        HEAD + 'plugin("acme/hello", version="1", limits={"max_runs": 0})\n',
        2,
        "limits.max_runs: Input should be greater",
    ),
    "requirements as one text": (
        HEAD + 'plugin("acme/hello", version="1", requirements="httpx")\n',
        2,
        "requirements is a list of texts",
    ),
    "an unknown capability": (
        HEAD + IDENTITY + '@runner(capabilities=["flying"])\n' + RUNNER,
        3,
        "capabilities.flying: there is none of this name; known are",
    ),
    "a capability that is no yes or no": (
        HEAD + IDENTITY + '@runner(capabilities={"streaming": "yes"})\n' + RUNNER,
        3,
        "capabilities.streaming: Input should be a valid boolean",
    ),
    "a form of another type": (
        HEAD + IDENTITY + '@runner(config=[{"name": "x", "type": "knob"}])\n' + RUNNER,
        3,
        "config.0.type: Input should be",
    ),
    "two runners named alike": (
        HEAD + IDENTITY + ("@runner\n" + RUNNER) * 2,
        7,
        "a second AgentRunner named 'default'; give each its own",
    ),
    "two tools named alike": (
        HEAD + IDENTITY + '@tool(name="a")\n' + TOOL + '@tool(name="a")\n' + TOOL,
        8,
        "a second Tool named 'a'",
    ),
    "an alias that is taken": (
        HEAD
        + IDENTITY
        + '@command("a", aliases=["b"])\nasync def a(ctx): pass\n@command("b")\nasync def b(ctx): pass\n',
        6,
        "a second Command named 'b'",
    ),
    "a name with a slash": (
        HEAD + IDENTITY + '@command("/ping")\nasync def a(ctx): pass\n',
        3,
        "'/ping' can't be part of an identity",
    ),
    "an unknown event": (
        HEAD + IDENTITY + '@on("message.recieved")\nasync def a(event, ctx): pass\n',
        3,
        "a waits for 'message.recieved', and there is no such event; did you mean message.received",
    ),
    "an event far from any": (
        HEAD + IDENTITY + '@on("zzz")\nasync def a(event, ctx): pass\n',
        3,
        "no such event; see the event types",
    ),
    "an event that is none": (HEAD + IDENTITY + "@on(5)\nasync def a(event, ctx): pass\n", 3, "a waits for '5'"),
    "two kinds at once": (HEAD + IDENTITY + '@tool\n@command("x")\n' + TOOL, 4, "'go' is Tool already"),
    "the same kind twice": (HEAD + IDENTITY + "@tool\n@tool\n" + TOOL, 4, "'go' is Tool already"),
    "a decorated class": (
        HEAD + IDENTITY + "@tool\nclass Go:\n    pass\n",
        3,
        "@tool belongs on an `async def` at the top level",
    ),
    "a decorated method": (
        HEAD + IDENTITY + "class Go:\n    @tool\n    async def go(self): pass\n",
        4,
        "@tool belongs on an `async def` at the top level",
    ),
    "a positional name": (HEAD + IDENTITY + '@tool("go")\n' + TOOL, 3, "name the arguments: name=..."),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_declared_wrongly_is_told_with_line_and_remedy_before_anything_runs(workshop: Path, case: str) -> None:
    text, line, words = CASES[case]
    file = written(workshop / "hello.py", text)
    with pytest.raises(PluginInvalid) as invalid:
        read_plugin(file)
    message = str(invalid.value)
    assert message.startswith(str(file) if line is None else f"{file}:{line}: ")
    assert words in message
    assert "\n" not in message


LOADED: dict[str, tuple[str, int, str]] = {
    "a runner without yield": (
        "@runner\nasync def go(ctx, api): pass\n",
        4,
        "go must be an async generator: `async def` with `yield`",
    ),
    "a runner that is not async": ("@runner\ndef go(ctx, api):\n    yield\n", 4, "go must be an async generator"),
    "a runner of other parameters": (
        "@runner\nasync def go(ctx):\n    yield\n",
        4,
        "go can't be called as go(ctx, api)",
    ),
    "a tool that is not async": ("@tool\ndef go(): pass\n", 4, "go must be a coroutine: `async def` without `yield`"),
    "a tool that yields": ("@tool\nasync def go():\n    yield 1\n", 4, "go must be a coroutine"),
    "a tool without types": ("@tool\nasync def go(x): pass\n", 4, "'x' needs a type"),
    "a handler that is not async": ('@on("*")\ndef go(event, ctx): pass\n', 4, "go must be a coroutine"),
    "a handler of other parameters": (
        '@on("*")\nasync def go(event): pass\n',
        4,
        "go can't be called as go(event, ctx)",
    ),
    "a command that is not async": ('@command("x")\ndef go(ctx): pass\n', 4, "go must be `async def`"),
    "a command of other parameters": ('@command("x")\nasync def go(): pass\n', 4, "go can't be called as go(ctx)"),
    "a hidden tool": (
        "if True:\n    @tool\n    async def go(): pass\n",
        5,
        "@tool of 'go' can't be seen without running the file",
    ),
    "a hidden handler": (
        'go = on("*")(lambda event, ctx: None)\n',
        3,
        "@on of 'go' can't be seen without running the file",
    ),
    "a function that something else replaces": (
        "@tool\nasync def go():\n    'Goes.'\ngo = 5\n",
        4,
        "belongs on an `async def`",
    ),
}


@pytest.mark.parametrize("case", LOADED)
def test_what_only_the_code_shows_is_told_with_line_and_remedy(workshop: Path, case: str) -> None:
    text, line, words = LOADED[case]
    file = written(workshop / "hello.py", HEAD + IDENTITY + text)
    plugin = read_plugin(file)
    with pytest.raises(PluginInvalid) as invalid:
        load(plugin)
    assert str(invalid.value).startswith(f"{file}:{line}: ")
    assert words in str(invalid.value)


Literal = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=6) | st.integers(), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(
    st.sampled_from(["identity", "version", "label", "description", "permissions", "limits", "requirements"]), Literal
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_plugin_is_called_with_it_is_read_or_refused_in_one_line(
    workshop: Path, argument: str, value: Any
) -> None:
    given = {"identity": "acme/hello", "version": "1", argument: value}
    read_or_refused(workshop, f"plugin({', '.join(f'{name}={each!r}' for name, each in given.items())})\n")


@given(st.sampled_from(["name", "label", "description", "capabilities", "permissions", "context", "config"]), Literal)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_a_decorator_is_called_with_it_is_read_or_refused_in_one_line(
    workshop: Path, argument: str, value: Any
) -> None:
    read_or_refused(workshop, f"{IDENTITY}@runner({argument}={value!r})\n{RUNNER}")


def read_or_refused(workshop: Path, text: str) -> None:
    file = written(workshop / "hello.py", HEAD + text)
    try:
        plugin = read_plugin(file)
    except PluginInvalid as invalid:
        said = str(invalid)
    else:
        said = "".join(plugin.warnings)
        for fields in plugin.runner_manifests().values():
            AgentRunnerManifest.model_validate(fields)
            json.dumps(fields)
    assert said.isprintable()


def test_a_tool_that_says_nothing_of_itself_is_warned_about(workshop: Path) -> None:
    file = written(workshop / "hello.py", HEAD + IDENTITY + "@tool\nasync def go(x: str): return x\n")
    assert read_plugin(file).warnings == (
        f"{file}:4: the tool 'go' has no description; a model chooses by it, write a docstring",
    )


def test_an_unknown_key_of_a_declaration_is_passed_over_with_a_warning(workshop: Path) -> None:
    text = HEAD + 'plugin("acme/hello", version="1", limits={"max_run": 5})\n'
    [warning] = read_plugin(written(workshop / "hello.py", text)).warnings
    assert "limits.max_run: an unknown key, passed over; did you mean max_runs?" in warning


@pytest.mark.parametrize("name", ["hello.txt", "nowhere.py"])
def test_what_is_neither_folder_nor_python_file_is_refused_with_what_a_plugin_is(workshop: Path, name: str) -> None:
    if name.endswith("txt"):
        (workshop / name).write_text("")
    with pytest.raises(PluginInvalid, match=r"a folder with a manifest\.yaml, or one \.py file with plugin\("):
        read_plugin(workshop / name)


def test_names_of_others_are_nobodys_decorators(workshop: Path) -> None:
    text = (
        HEAD.replace("tool, ", "") + IDENTITY + "from functools import cache as tool\n\n@tool\ndef go(): pass\n"
        "import functools\n@functools.cache\ndef stay(): pass\n"
    )
    plugin = load(read_plugin(written(workshop / "hello.py", text)))
    assert plugin.components == ()


def test_what_is_declared_is_what_the_package_offers() -> None:
    """The function that a file calls and the package that reads it share one name."""
    import parlour_sdk
    import parlour_sdk.plugin as package
    from parlour_sdk import plugin

    called: Any = plugin
    assert called is package is parlour_sdk.plugin
    assert called("acme/hello", version="1") is None
    with pytest.raises(TypeError, match="lable"):
        called("acme/hello", version="1", lable="x")

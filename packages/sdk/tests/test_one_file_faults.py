"""Tests faults of single-file plugins: each is reported with line and remedy."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parlour_sdk.plugin import PluginInvalid, load, read_plugin
from parlour_sdk.protocol.manifest import AgentRunnerManifest

from .one_file import HEAD, IDENTITY, write

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
def test_an_invalid_declaration_is_reported_with_line_and_remedy_without_running_it(workshop: Path, case: str) -> None:
    text, line, message_part = CASES[case]
    file = write(workshop / "hello.py", text)
    with pytest.raises(PluginInvalid) as invalid:
        read_plugin(file)
    message = str(invalid.value)
    assert message.startswith(str(file) if line is None else f"{file}:{line}: ")
    assert message_part in message
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
def test_an_invalid_function_is_reported_with_line_and_remedy(workshop: Path, case: str) -> None:
    text, line, message_part = LOADED[case]
    file = write(workshop / "hello.py", HEAD + IDENTITY + text)
    plugin = read_plugin(file)
    with pytest.raises(PluginInvalid) as invalid:
        load(plugin)
    assert str(invalid.value).startswith(f"{file}:{line}: ")
    assert message_part in str(invalid.value)


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
def test_any_argument_of_plugin_is_accepted_or_refused_in_one_line(workshop: Path, argument: str, value: Any) -> None:
    given = {"identity": "acme/hello", "version": "1", argument: value}
    check_accepted_or_refused(workshop, f"plugin({', '.join(f'{name}={each!r}' for name, each in given.items())})\n")


@given(st.sampled_from(["name", "label", "description", "capabilities", "permissions", "context", "config"]), Literal)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_argument_of_a_decorator_is_accepted_or_refused_in_one_line(
    workshop: Path, argument: str, value: Any
) -> None:
    check_accepted_or_refused(workshop, f"{IDENTITY}@runner({argument}={value!r})\n{RUNNER}")


def check_accepted_or_refused(workshop: Path, text: str) -> None:
    file = write(workshop / "hello.py", HEAD + text)
    try:
        plugin = read_plugin(file)
    except PluginInvalid as invalid:
        output = str(invalid)
    else:
        output = "".join(plugin.warnings)
        for fields in plugin.runner_manifests().values():
            AgentRunnerManifest.model_validate(fields)
            json.dumps(fields)
    assert output.isprintable()


def test_a_tool_without_a_description_has_a_warning(workshop: Path) -> None:
    file = write(workshop / "hello.py", HEAD + IDENTITY + "@tool\nasync def go(x: str): return x\n")
    assert read_plugin(file).warnings == (
        f"{file}:4: the tool 'go' has no description; a model chooses by it, write a docstring",
    )


def test_an_unknown_key_of_a_declaration_is_ignored_with_a_warning(workshop: Path) -> None:
    text = HEAD + 'plugin("acme/hello", version="1", limits={"max_run": 5})\n'
    [warning] = read_plugin(write(workshop / "hello.py", text)).warnings
    assert "limits.max_run: an unknown key, passed over; did you mean max_runs?" in warning


@pytest.mark.parametrize("name", ["hello.txt", "nowhere.py"])
def test_a_path_that_is_neither_a_folder_nor_a_python_file_is_refused(workshop: Path, name: str) -> None:
    if name.endswith("txt"):
        (workshop / name).write_text("")
    with pytest.raises(PluginInvalid, match=r"a folder with a manifest\.yaml, or one \.py file with plugin\("):
        read_plugin(workshop / name)

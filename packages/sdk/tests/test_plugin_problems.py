"""Each way a plugin's folder can be wrong is told in one sentence: file, line, what is wanted, what to do."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parlour_sdk.plugin import LoadedPlugin, PluginInvalid, load, read_plugin
from parlour_sdk.protocol.manifest import AgentRunnerManifest

HEAD = "apiVersion: parlour/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n"
CODE = """\
from parlour_sdk.components import (
    AgentRunner, Command, EventListener, KnowledgeEngine, Parser, Plugin, Tool, on
)


class Listener(EventListener):
    @on("message.received")
    async def hear(self, event, ctx):
        pass


class Misspelt(EventListener):
    @on("message.*")
    @on("message.recieved")
    async def hear(self, event, ctx):
        pass


class Deaf(EventListener):
    async def hear(self, event, ctx):
        pass


class Blocking(EventListener):
    @on("*")
    def hear(self, event, ctx):
        pass


class Narrow(EventListener):
    @on("*")
    async def hear(self, event):
        pass


class Weather(Tool):
    async def call(self, parameters, ctx):
        return "blue"


class Unfinished(Tool):
    pass


class Yielding(Tool):
    async def call(self, parameters, ctx):
        yield "blue"


class Demanding(Tool):
    def __init__(self, token):
        pass

    async def call(self, parameters, ctx):
        return "blue"


class Ping(Command):
    async def run(self, ctx):
        return "pong"


class Sync(Command):
    def run(self, ctx):
        return "pong"


class Engine(KnowledgeEngine):
    async def ingest(self, kb_id, file, ctx):
        return 0

    async def retrieve(self, kb_id, query, top_k, filters, ctx):
        return []

    async def delete(self, kb_id, file_id, ctx):
        pass


class Reader(Parser):
    async def parse(self, file, config):
        return ""


class ShortRunner(AgentRunner):
    async def run(self, ctx):
        yield


class Main(Plugin):
    pass


class NotMain:
    pass


number = 5
"""


def component(kind: str, attr: str, spec: str = "{}", name: str = "it") -> str:
    code = f"execution: {{python: {{path: code.py, attr: {attr}}}}}\n"
    return f"{HEAD.format(kind=kind, name=name)}spec: {spec}\n{code}"


def manifest(*components: str, more: str = "") -> str:
    listed = ", ".join(components)
    return (
        "apiVersion: parlour/v1\nkind: Plugin\nmetadata: {author: acme, name: hello, version: 0.1.0}\n"
        f"spec:\n  components: [{listed}]\n{more}"
    )


@pytest.fixture
def place(workshop: Path) -> Path:
    """A folder with code for components of every kind, and nothing that names it yet."""
    (workshop / "code.py").write_text(CODE)
    (workshop / "manifest.yaml").write_text(manifest())
    return workshop


def write(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (place / name).write_text(text)


def refusal(place: Path) -> str:
    with pytest.raises(PluginInvalid) as invalid:
        load(read_plugin(place))
    message = str(invalid.value)
    assert "\n" not in message
    return message


def loaded(place: Path, files: dict[str, str]) -> LoadedPlugin:
    write(place, files)
    return load(read_plugin(place))


def line_of(words: str) -> int:
    return next(number for number, line in enumerate(CODE.splitlines(), 1) if words in line)


KINDS = {
    "EventListener": ("Listener", "listeners"),
    "Tool": ("Weather", "tools"),
    "Command": ("Ping", "commands"),
    "KnowledgeEngine": ("Engine", "knowledge_engines"),
    "Parser": ("Reader", "parsers"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_component_of_every_kind_is_loaded_from_its_file(place: Path, kind: str) -> None:
    attr, where = KINDS[kind]
    plugin = loaded(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": component(kind, attr)})
    assert type(getattr(plugin, where)["it"]).__name__ == attr
    assert [(each["kind"], each["name"]) for each in plugin.components] == [(kind, "it")]


def test_a_page_needs_no_code(place: Path) -> None:
    page = HEAD.format(kind="Page", name="home") + "spec: {path: home.html}\n"
    plugin = loaded(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": page, "home.html": "<p>"})
    assert plugin.components == ({"kind": "Page", "name": "home", "spec": {"path": "home.html"}},)


def test_what_a_file_says_of_a_component_is_told(place: Path) -> None:
    spec = "{parameters: {type: object, properties: {city: {type: string}}, required: [city]}, read_only: true}"
    text = component("Tool", "Weather", spec).replace("{name: it}", "{name: it, description: {en_US: Looks}}")
    plugin = loaded(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": text})
    [summary] = plugin.components
    assert summary["description"] == {"en_US": "Looks"}
    assert summary["spec"]["parameters"]["required"] == ["city"]
    assert plugin.spec("Tool", "it")["read_only"] is True
    assert plugin.spec("Tool", "other") == {}


Case = tuple[dict[str, str], str, str]
TWO = manifest("it.yaml", "other.yaml")
ONE = manifest("it.yaml")
CASES: dict[str, Case] = {
    "another version that is newer": (
        {"manifest.yaml": ONE.replace("parlour/v1", "parlour/v2")},
        "manifest.yaml:1: apiVersion: ",
        "is 'parlour/v2'; it is written for a newer Parlour: update Parlour and its SDK",
    ),
    "another version that is none": (
        {"manifest.yaml": ONE.replace("parlour/v1", "langbot/v1")},
        "manifest.yaml:1: apiVersion: ",
        "is 'langbot/v1'; update the plugin: write parlour/v1",
    ),
    "no version": (
        {"manifest.yaml": ONE.replace(", version: 0.1.0", "")},
        "manifest.yaml:3: metadata.version: ",
        "Field required; add `version: 0.1.0`",
    ),
    "a version that is a number": (
        {"manifest.yaml": ONE.replace("0.1.0", "0.1")},
        "manifest.yaml:3: metadata.version: ",
        "Input should be a valid string; put it in quotes: '0.1'",
    ),
    "an author of bad characters": (
        {"manifest.yaml": ONE.replace("acme", "'ac/me'")},
        "manifest.yaml:3: metadata.author: ",
        "'ac/me' can't be part of an identity; use letters, digits, '-', '_' and '.', no '.' first",
    ),
    "a name that is hidden": (
        {"manifest.yaml": ONE.replace("hello", ".hello")},
        "manifest.yaml:3: metadata.name: ",
        "'.hello' can't be part of an identity",
    ),
    "a label that is one text": (
        {"manifest.yaml": ONE.replace("version", "label: Hello, version")},
        "manifest.yaml:3: metadata.label: ",
        "write one text per language: {en_US: Hello}",
    ),
    "a key twice": (
        {"manifest.yaml": ONE + "  permissions: {}\n  permissions: {models: [invoke]}\n"},
        "manifest.yaml:7: ",
        "spec.permissions is given twice; keep one",
    ),
    "an unknown permission": (
        {"manifest.yaml": ONE + "  permissions:\n    network: []\n    modells: [invoke]\n"},
        "manifest.yaml:8: spec.permissions.modells: ",
        "there is none of this name; known are agent_runs, events, knowledge_bases, models, network, platform_api, "
        "runtimes, storage, tools; did you mean models?",
    ),
    "a permission of an unknown value": (
        {"manifest.yaml": ONE + "  permissions:\n    models:\n    - invoke\n    - invoek\n"},
        "manifest.yaml:9: spec.permissions.models.1: ",
        "did you mean invoke?",
    ),
    "a permission that is no list": (
        {"manifest.yaml": ONE + "  permissions: {models: invoke}\n"},
        "manifest.yaml:6: spec.permissions.models: ",
        "Input should be a valid list; write it as a list: [...]",
    ),
    "an empty permission": (
        {"manifest.yaml": ONE + "  permissions:\n"},
        "manifest.yaml:6: spec.permissions: ",
        "fill it in or leave it out",
    ),
    "a limit out of bounds": (
        {"manifest.yaml": ONE + "  limits: {memory_mb: 1}\n"},
        "manifest.yaml:6: spec.limits.memory_mb: ",
        "greater than or equal to 32",
    ),
    "an icon elsewhere": (
        {"manifest.yaml": ONE.replace("version", "icon: ../icon.svg, version")},
        "manifest.yaml:3: ",
        "'../icon.svg' leaves the plugin's folder; use a path inside it",
    ),
    "requirements elsewhere": (
        {"manifest.yaml": manifest(more="execution:\n  requirements: /etc/passwd\n")},
        "manifest.yaml:7: ",
        "'/etc/passwd' leaves the plugin's folder",
    ),
    "requirements that are not there": (
        {"manifest.yaml": manifest(more="execution:\n  requirements: requirements.txt\n")},
        "manifest.yaml:7: ",
        "execution.requirements names requirements.txt, which is not a file here",
    ),
    "a main file that is not there": (
        {"manifest.yaml": manifest(more="execution: {python: {path: main.py}}\n")},
        "manifest.yaml:6: ",
        "execution.python.path names main.py, which is not a Python file here",
    ),
    "a path of another world": (
        {"manifest.yaml": manifest(more='execution: {requirements: "a\\0b"}\n')},
        "manifest.yaml:6: ",
        "which is not a file here",
    ),
    "a main class that is not there": (
        {"manifest.yaml": manifest(more="execution: {python: {path: code.py, attr: Hello}}\n")},
        "manifest.yaml: ",
        "code.py has no class 'Hello' derived from Plugin; write `class Hello(Plugin):` there, or leave",
    ),
    "a main class of another base": (
        {"manifest.yaml": manifest(more="execution: {python: {path: code.py, attr: NotMain}}\n")},
        "manifest.yaml: ",
        "no class 'NotMain' derived from Plugin",
    ),
    "a component twice": (
        {"manifest.yaml": TWO, "it.yaml": component("Tool", "Weather"), "other.yaml": component("Tool", "Weather")},
        "other.yaml: ",
        "a second Tool named 'it'; give each its own metadata.name (the first is at {place}/it.yaml)",
    ),
    "a second engine": (
        {
            "manifest.yaml": TWO,
            "it.yaml": component("KnowledgeEngine", "Engine"),
            "other.yaml": component("KnowledgeEngine", "Engine", name="other"),
        },
        "other.yaml: ",
        "a second KnowledgeEngine (the first is at {place}/it.yaml); a plugin has one at most",
    ),
    "a component of a file and of a decorator": (
        {
            "manifest.yaml": manifest("it.yaml", more="execution: {python: {path: main.py}}\n"),
            "it.yaml": component("Tool", "Weather"),
            "main.py": "from parlour_sdk import tool\n\n@tool\nasync def it():\n    '''It.'''\n",
        },
        "main.py:4: ",
        "a second Tool named 'it'; give each its own metadata.name (the first is at {place}/it.yaml)",
    ),
    "a component of a bad name": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather", name="'a b'")},
        "it.yaml:3: metadata.name: ",
        "'a b' can't be part of an identity",
    ),
    "an unknown kind": (
        {"manifest.yaml": ONE, "it.yaml": component("Toool", "Weather")},
        "it.yaml:2: kind: ",
        "did you mean Tool?",
    ),
    "an unknown capability": (
        {
            "manifest.yaml": ONE,
            "it.yaml": component("AgentRunner", "ShortRunner", "\n  capabilities: {straeming: true}"),
        },
        "it.yaml:5: spec.capabilities.straeming: ",
        "there is none of this name; known are interrupt, knowledge_retrieval",
    ),
    "no attr": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather").replace(", attr: Weather", "")},
        "it.yaml:5: ",
        "execution.python.attr is missing; it names the class",
    ),
    "a spec of another kind": (
        {"manifest.yaml": ONE, "it.yaml": component("EventListener", "Listener", "{priority: high}")},
        "it.yaml:4: spec.priority: ",
        "valid integer",
    ),
    "a page that is not there": (
        {"manifest.yaml": ONE, "it.yaml": HEAD.format(kind="Page", name="home") + "spec: {path: home.html}\n"},
        "it.yaml:4: ",
        "spec.path names home.html, which is not a file here",
    ),
    "parameters of another type": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather", "{parameters: {type: string}}")},
        "it.yaml:4: spec.parameters: ",
        "its type is 'string'; write a JSON Schema of an object",
    ),
    "parameters without their properties": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather", "{parameters: {type: object, properties: []}}")},
        "it.yaml:4: spec.parameters: ",
        "its properties are no mapping",
    ),
    "a parameter that is required and unknown": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather", "{parameters: {type: object, required: [a]}}")},
        "it.yaml:4: spec.parameters: ",
        "'a' is required and not among its properties",
    ),
    "a class that is misspelt": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Wether")},
        "it.yaml: ",
        "code.py has no class 'Wether' derived from Tool; did you mean Weather?",
    ),
    "a class of another base": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Ping")},
        "it.yaml: ",
        "no class 'Ping' derived from Tool; write `class Ping(Tool):` in {place}/code.py:" + str(line_of("class Ping")),
    ),
    "something that is no class": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "number")},
        "it.yaml: ",
        "no class 'number' derived from Tool",
    ),
    "a class that lacks a method": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Unfinished")},
        f"code.py:{line_of('class Unfinished')}: ",
        "Unfinished() failed with TypeError: Can't instantiate abstract class Unfinished",
    ),
    "a class that wants arguments": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Demanding")},
        f"code.py:{line_of('class Demanding')}: ",
        "a component is made without arguments",
    ),
    "a tool that yields": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Yielding")},
        f"code.py:{line_of('class Yielding') + 1}: ",
        "Yielding.call must be a coroutine: `async def` without `yield`",
    ),
    "a command that is not async": (
        {"manifest.yaml": ONE, "it.yaml": component("Command", "Sync")},
        f"code.py:{line_of('class Sync') + 1}: ",
        "Sync.run must be `async def`, with `return` or `yield`",
    ),
    "a runner of other parameters": (
        {"manifest.yaml": ONE, "it.yaml": component("AgentRunner", "ShortRunner")},
        f"code.py:{line_of('class ShortRunner') + 1}: ",
        "ShortRunner.run can't be called as run(ctx, api); write these parameters",
    ),
    "a handler of an unknown event": (
        {"manifest.yaml": ONE, "it.yaml": component("EventListener", "Misspelt")},
        f"code.py:{line_of('class Misspelt') + 3}: ",
        "Misspelt.hear waits for 'message.recieved', and there is no such event; did you mean message.received",
    ),
    "a listener without handlers": (
        {"manifest.yaml": ONE, "it.yaml": component("EventListener", "Deaf")},
        f"code.py:{line_of('class Deaf')}: ",
        "Deaf handles no events; mark an `async def` of it with @on('message.received')",
    ),
    "a handler that is not async": (
        {"manifest.yaml": ONE, "it.yaml": component("EventListener", "Blocking")},
        f"code.py:{line_of('class Blocking') + 2}: ",
        "Blocking.hear must be a coroutine",
    ),
    "a handler of other parameters": (
        {"manifest.yaml": ONE, "it.yaml": component("EventListener", "Narrow")},
        f"code.py:{line_of('class Narrow') + 2}: ",
        "Narrow.hear can't be called as hear(event, ctx)",
    ),
    "code that is no Python": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather"), "code.py": "x = 1\ndef (:\n"},
        "code.py:2: ",
        "this is not Python: invalid syntax",
    ),
    "a module that is not installed": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather"), "code.py": "import os\nimport no_such.thing\n"},
        "code.py:2: ",
        "there is no module 'no_such'; add it to requirements.txt or, if it is your own, to the folder",
    ),
    "a module of its own that fails": (
        {
            "manifest.yaml": ONE,
            "it.yaml": component("Tool", "Weather"),
            "code.py": "import its_own_helper\n",
            "its_own_helper.py": "\n\nfrom os import no_such_name\n",
        },
        "its_own_helper.py:3: ",
        "importing the plugin's code failed here with ImportError: cannot import name 'no_such_name'",
    ),
    "code that fails elsewhere": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather"), "code.py": "import json\n\njson.loads('{')\n"},
        "code.py:3: ",
        "importing the plugin's code failed here with JSONDecodeError: Expecting property name",
    ),
    "code that ends the process": (
        {"manifest.yaml": ONE, "it.yaml": component("Tool", "Weather"), "code.py": "raise SystemExit\n"},
        "code.py:1: ",
        "importing the plugin's code failed here with SystemExit",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_told_with_file_line_and_remedy(place: Path, case: str) -> None:
    files, where, words = CASES[case]
    if "it.yaml" in files.get("manifest.yaml", "") and "it.yaml" not in files:
        files = {**files, "it.yaml": component("Tool", "Weather")}
    write(place, files)
    message = refusal(place)
    assert message.startswith(f"{place}/{where}")
    assert words.replace("{place}", str(place)) in message


def test_a_manifest_that_is_too_large_is_refused_unread(place: Path) -> None:
    (place / "manifest.yaml").write_text("#" * (256 * 1024 + 1))
    assert "manifest.yaml is larger than 262144 bytes" in refusal(place)


@pytest.mark.parametrize("text", ["[" * 200_000, "- " * 100_000, "{a: " * 60_000, "a: " + "[" * 80 + "]" * 80])
def test_a_manifest_that_is_nested_without_end_is_refused_and_ends_nobodys_process(place: Path, text: str) -> None:
    (place / "manifest.yaml").write_text(text)
    message = refusal(place)
    assert "manifest.yaml:1: this is nested more than 64 levels deep" in message


def test_what_a_file_says_can_not_play_with_a_terminal(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("hello", '"a\\e[31m\\nb"') + '"\\e[2J": 1\n')
    message = refusal(place)
    assert message.isprintable()
    assert "'a [31m b' can't be part of an identity" in message


def test_a_message_stays_short(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("hello", "/" * 100_000))
    assert len(refusal(place)) == 2000


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3),
    max_leaves=6,
)
GOOD: dict[str, Any] = {
    "apiVersion": "parlour/v1",
    "kind": "Plugin",
    "metadata": {"author": "acme", "name": "hello", "version": "1", "label": {"en_US": "x"}, "icon": "i.svg"},
    "spec": {"components": [], "permissions": {"models": ["invoke"]}, "limits": {"max_runs": 5}},
    "execution": {"python": {"path": "code.py", "attr": "Main"}, "requirements": "code.py"},
}
RUNNER: dict[str, Any] = {
    "apiVersion": "parlour/v1",
    "kind": "AgentRunner",
    "metadata": {"name": "it", "description": {"en_US": "x"}},
    "spec": {
        "capabilities": {"streaming": True},
        "permissions": {"models": ["invoke"]},
        "context": {"bootstrap": "none"},
        "config_schema": [{"name": "x", "label": {"en_US": "x"}, "type": "select", "options": [{"value": "a"}]}],
    },
    "execution": {"python": {"path": "code.py", "attr": "ShortRunner"}},
}


def paths(value: Any, keys: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [keys, *(path for key, each in inner for path in paths(each, (*keys, key)))]


def replaced(value: Any, keys: tuple[Any, ...], by: Any) -> Any:
    if not keys:
        return by
    changed = copy.copy(value)
    changed[keys[0]] = replaced(value[keys[0]], keys[1:], by)
    return changed


@given(st.sampled_from(paths(GOOD)), Json)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_a_manifest_says_it_is_read_or_refused_in_one_line(
    place: Path, keys: tuple[Any, ...], value: Any
) -> None:
    (place / "manifest.yaml").write_text(yaml.safe_dump(replaced(GOOD, keys, value)))
    read_or_refused(place)


@given(st.sampled_from(paths(RUNNER)), Json)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_a_component_says_it_is_read_or_refused_in_one_line(
    place: Path, keys: tuple[Any, ...], value: Any
) -> None:
    write(place, {"manifest.yaml": manifest("it.yaml"), "it.yaml": yaml.safe_dump(replaced(RUNNER, keys, value))})
    read_or_refused(place)


def read_or_refused(place: Path) -> None:
    try:
        plugin = read_plugin(place)
    except PluginInvalid as invalid:
        said = str(invalid)
    else:
        said = "".join(plugin.warnings)
        for fields in plugin.runner_manifests().values():
            AgentRunnerManifest.model_validate(fields)
            json.dumps(fields)
    assert said.isprintable()


def test_a_folder_without_a_manifest_says_what_it_needs(workshop: Path) -> None:
    assert "a plugin's folder needs one" in refusal(workshop)


def test_anchors_that_lead_back_to_themselves_do_no_harm(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest(more="extra: &a {b: *a}\n"))
    assert "extra: an unknown key" in read_plugin(place).warnings[0]


def test_a_date_stays_a_text(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("0.1.0", "2026-01-31"))
    assert read_plugin(place).manifest.metadata.version == "2026-01-31"


def listening(place: Path, events: str) -> LoadedPlugin:
    text = manifest("it.yaml", more=f"  permissions: {{events: [{events}]}}\n")
    return loaded(place, {"manifest.yaml": text, "it.yaml": component("EventListener", "Listener")})


@pytest.mark.parametrize("events", ["message.received", "message.*", "'*'"])
def test_a_handler_whose_event_the_plugin_asks_for_is_nothing_to_warn_about(place: Path, events: str) -> None:
    assert listening(place, events).warnings == ()


@pytest.mark.parametrize("events", ["", "message.edited", "group.*"])
def test_a_handler_whose_event_the_plugin_does_not_ask_for_is_warned_about(place: Path, events: str) -> None:
    assert listening(place, events).warnings == (
        f"{place}/code.py:{line_of('class Listener') + 2}: it.hear will never hear of 'message.received'; "
        "add it to the plugin's permissions.events",
    )


def test_an_event_that_is_asked_for_and_unknown_is_warned_about(place: Path) -> None:
    [warning] = listening(place, "'*', message.recieved").warnings
    assert warning.startswith(f"{place}/manifest.yaml:6: permissions.events has 'message.recieved', which is no event")
    assert "did you mean message.received" in warning


def test_an_icon_that_is_not_there_is_only_warned_about(place: Path) -> None:
    (place / "manifest.yaml").write_text(manifest().replace("version", "icon: icon.svg, version"))
    [warning] = read_plugin(place).warnings
    assert warning == (
        f"{place}/manifest.yaml:3: metadata.icon names icon.svg, which is not a file here; "
        "the plugin is shown without an icon"
    )

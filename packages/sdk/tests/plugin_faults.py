"""Lists faults of plugin folders with the expected messages."""

from .plugin_code import HEAD, component, line_of, manifest

KINDS = {
    "EventListener": ("Listener", "listeners"),
    "Tool": ("Weather", "tools"),
    "Command": ("Ping", "commands"),
    "KnowledgeEngine": ("Engine", "knowledge_engines"),
    "Parser": ("Reader", "parsers"),
}


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
        "processes, runtimes, storage, tools; did you mean models?",
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
    "a path with a null character": (
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
        "there is none of this name; known are connection_test, interrupt, knowledge_retrieval",
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

"""All error messages and warnings about invalid plugins: each names the location, the problem and the remedy."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..values import dataclass

API_VERSION = "parlour/v1"
MAX_MESSAGE_CHARACTERS = 2000
_EXAMPLE = 'plugin("acme/hello", version="0.1.0")'


class PluginInvalid(Exception):
    """Raised when a plugin's files violate the plugin contract."""

    code = "plugin_invalid"

    def __init__(self, message: str) -> None:
        super().__init__(to_single_line(message))


def to_single_line(message: str) -> str:
    """Shortens a message to one printable line, since text from a plugin's files may end up in a terminal."""
    printable = "".join(each if each.isprintable() else " " for each in message[: MAX_MESSAGE_CHARACTERS + 1])
    return printable if len(printable) <= MAX_MESSAGE_CHARACTERS else printable[: MAX_MESSAGE_CHARACTERS - 1] + "…"


@dataclass(frozen=True, slots=True)
class SourceLocation:
    file: Path
    line: int | None = None

    def __str__(self) -> str:
        return str(self.file) if self.line is None else f"{self.file}:{self.line}"


def suggestion(name: str, known_names: Iterable[str]) -> str:
    """Returns `; did you mean ...?` if a known word is similar; otherwise an empty text."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known_names), n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""


# The plugin as a whole


def not_a_plugin(path: Path) -> PluginInvalid:
    return PluginInvalid(
        f"{path} is not a folder; a plugin is a folder with a manifest.yaml, or one .py file with {_EXAMPLE}"
    )


def not_a_single_file(path: Path) -> PluginInvalid:
    return PluginInvalid(f"{path} is a folder already; only a plugin of one .py file is made into one")


def unreadable(file: Path, error: OSError) -> PluginInvalid:
    remedy = "; a plugin's folder needs one, and the path must lead to it" if file.name == "manifest.yaml" else ""
    return PluginInvalid(f"{file} can't be read: {error.strerror}{remedy}")


def too_large(file: Path, limit: int) -> PluginInvalid:
    return PluginInvalid(f"{file} is larger than {limit} bytes; this is not what such a file is for")


def too_deep(location: SourceLocation, levels: int) -> PluginInvalid:
    return PluginInvalid(f"{location}: this is nested more than {levels} levels deep; write it flatter")


# Fields


def not_yaml(file: Path, reason: str) -> PluginInvalid:
    return PluginInvalid(f"{file} is not YAML: {' '.join(reason.split())}")


def duplicate_key(location: SourceLocation, field: str) -> PluginInvalid:
    return PluginInvalid(f"{location}: {field} is given twice; keep one")


def unsupported_version(location: SourceLocation, version: str) -> PluginInvalid:
    is_newer = (
        version.startswith("parlour/v") and version.removeprefix("parlour/v").isdigit() and version != "parlour/v0"
    )
    remedy = (
        "it is written for a newer Parlour: update Parlour and its SDK"
        if is_newer
        else f"update the plugin: write {API_VERSION}"
    )
    return PluginInvalid(f"{location}: apiVersion: Input should be '{API_VERSION}' and is '{version}'; {remedy}")


def wrong_field(location: SourceLocation, field: str, error: Any) -> PluginInvalid:
    """Builds the error for a field; `error` is one of pydantic's error dicts: type, msg, input, ctx."""
    return PluginInvalid(f"{location}: {field or 'the file'}: {error['msg']}{_remedy(field, error)}")


def _remedy(field: str, error: Any) -> str:
    value, name = error.get("input"), field.rpartition(".")[2]
    match error["type"]:
        case "missing":
            return f"; add `{name}: {_SAMPLES.get(name, '...')}`"
        case "string_type" if isinstance(value, int | float):
            return f"; put it in quotes: '{value}'"
        case "dict_type" if name in ("label", "description") and isinstance(value, str):
            return f"; write one text per language: {{en_US: {value}}}"
        case "dict_type" | "model_type" if value is None:
            return "; fill it in or leave it out"
        case "list_type":
            return "; write it as a list: [...]"
        case "literal_error" if isinstance(value, str):
            return suggestion(
                value, (choice.strip("' ") for choice in error["ctx"]["expected"].replace(" or ", ",").split(","))
            )
        case _:
            return ""


_SAMPLES = {"version": "0.1.0", "author": "acme", "name": "hello", "apiVersion": API_VERSION}


def unknown_grant(location: SourceLocation, field: str, known_names: Iterable[str]) -> PluginInvalid:
    """Builds the error for an unknown capability or permission: never ignored, since the plugin relies on it."""
    names = sorted(known_names)
    name = field.rpartition(".")[2]
    return PluginInvalid(
        f"{location}: {field}: there is none of this name; known are {', '.join(names)}{suggestion(name, names)}"
    )


def unknown_key(location: SourceLocation, field: str, known_names: Iterable[str]) -> str:
    return to_single_line(
        f"{location}: {field}: an unknown key, passed over{suggestion(field.rpartition('.')[2], known_names)}"
    )


def bad_name(location: SourceLocation, field: str, name: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {field}: '{name}' can't be part of an identity; "
        "use letters, digits, '-', '_' and '.', no '.' first"
    )


def no_schema(location: SourceLocation, field: str, reason: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {field}: {reason}; write a JSON Schema of an object: {{type: object, properties: {{...}}}}"
    )


# Files that a manifest refers to


def leaves_folder(location: SourceLocation, relative: str) -> PluginInvalid:
    return PluginInvalid(f"{location}: '{relative}' leaves the plugin's folder; use a path inside it")


def no_file(location: SourceLocation, field: str, relative: str, noun: str) -> PluginInvalid:
    return PluginInvalid(f"{location}: {field} names {relative}, which is not {noun} here")


def large_page(location: SourceLocation, field: str, relative: str, size: int) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {field} names {relative}, which has {size} bytes; a page has at most 1 MiB, with its styles, "
        "scripts and pictures inside"
    )


def no_icon(location: SourceLocation, relative: str) -> str:
    return to_single_line(
        f"{location}: metadata.icon names {relative}, which is not a file here; the plugin is shown without an icon"
    )


def unnamed_requirements(location: SourceLocation, relative: str) -> str:
    return f"{location}: {relative} is not named here and nothing of it is installed; add `requirements: {relative}`"


def no_entry(location: SourceLocation, missing: str) -> PluginInvalid:
    named = "class" if missing.endswith("attr") else "file and the class"
    return PluginInvalid(f"{location}: {missing} is missing; it names the {named}")


# Components


def duplicate_component(location: SourceLocation, kind: str, name: str, first: SourceLocation) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: a second {kind} named '{name}'; give each its own metadata.name (the first is at {first})"
    )


def duplicate_engine(location: SourceLocation, first: SourceLocation) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: a second KnowledgeEngine (the first is at {first}); a plugin has one at most, make another of it"
    )


def unknown_event(location: SourceLocation, function: str, pattern: str, known_names: Iterable[str]) -> PluginInvalid:
    hint = suggestion(pattern, known_names) or "; see the event types of the documentation, or use 'message.*' or '*'"
    return PluginInvalid(f"{location}: {function} waits for '{pattern}', and there is no such event{hint}")


def unknown_pattern(location: SourceLocation, pattern: str, known_names: Iterable[str]) -> str:
    return to_single_line(
        f"{location}: permissions.events has '{pattern}', which is no event here{suggestion(pattern, known_names)}"
    )


def event_not_permitted(location: SourceLocation, function: str, pattern: str) -> str:
    return to_single_line(
        f"{location}: {function} will never hear of '{pattern}'; add it to the plugin's permissions.events"
    )


def no_class(
    location: SourceLocation,
    path: str,
    attr: str,
    kind: str,
    actual_location: SourceLocation | None,
    other_classes: Iterable[str],
) -> PluginInvalid:
    remedy = (
        f"; write `class {attr}({kind}):` in {actual_location}"
        if actual_location is not None
        else suggestion(attr, other_classes)
    )
    return PluginInvalid(f"{location}: {path} has no class '{attr}' derived from {kind}{remedy}")


def no_main_class(location: SourceLocation, path: str, attr: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {path} has no class '{attr}' derived from Plugin; write `class {attr}(Plugin):` there, "
        "or leave execution.python.attr out"
    )


def not_async(location: SourceLocation, function: str, expected: str) -> PluginInvalid:
    return PluginInvalid(f"{location}: {function} must be {expected}")


def unsupported_signature(location: SourceLocation, function: str, reason: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {function}: {reason}; a tool's parameters are texts, numbers, lists and the like"
    )


def wrong_parameters(location: SourceLocation, function: str, expected: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {function} can't be called as {function.rpartition('.')[2]}({expected}); write these parameters"
    )


def no_handlers(location: SourceLocation, name: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {name} handles no events; mark an `async def` of it with @on('message.received')"
    )


def construction_failed(location: SourceLocation, name: str, error: Exception) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {name}() failed with {type(error).__name__}: {error}; a component is made without arguments"
    )


def unlisted_component(location: SourceLocation, kind: str, file: str) -> str:
    return to_single_line(f"{location}: this {kind} is not loaded; add `- {file}` to spec.components of manifest.yaml")


def invalid_default(location: SourceLocation, item: str, reason: str) -> str:
    return to_single_line(f"{location}: config_schema: the default of '{item}' {reason}")


def unknown_tool(location: SourceLocation | str, item: str, tool_id: str, known_names: Iterable[str]) -> str:
    names = list(known_names)
    own_tools = [each for each in names if each.endswith(f".{tool_id}")]
    hint = f"; did you mean {own_tools[0]}?" if own_tools else suggestion(tool_id, names)
    return to_single_line(
        f"{location}: '{item}' names the tool '{tool_id}', which no Host has{hint or '; known are ' + ', '.join(names)}"
    )


# Code


def not_python(location: SourceLocation, reason: str) -> PluginInvalid:
    return PluginInvalid(f"{location}: this is not Python: {reason}")


def missing_module(location: SourceLocation, module: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: there is no module '{module}'; add it to requirements.txt or, if it is your own, to the folder"
    )


def import_failed(location: SourceLocation, error: BaseException) -> PluginInvalid:
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return PluginInvalid(f"{location}: importing the plugin's code failed here with {reason}")


# Declarations of a file: plugin(...) and the decorators


def no_declaration(file: Path) -> PluginInvalid:
    return PluginInvalid(
        f"{file} declares no plugin; write `from parlour_sdk import plugin` and {_EXAMPLE} at the top of the file"
    )


def duplicate_declaration(location: SourceLocation, first: SourceLocation) -> PluginInvalid:
    return PluginInvalid(f"{location}: plugin(...) is called a second time (the first is at {first}); keep one")


def not_literal(location: SourceLocation, call: str, argument: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: {call}(...): {argument} must be written out as a literal; it is read without running the file"
    )


def wrong_arguments(location: SourceLocation, call: str, reason: str) -> PluginInvalid:
    return PluginInvalid(f"{location}: {call}(...): {reason}")


def bad_identity(location: SourceLocation, identity: object) -> PluginInvalid:
    return PluginInvalid(f"{location}: plugin({identity!r}): the first argument is author/name, such as 'acme/hello'")


def not_a_function(location: SourceLocation, decorator: str) -> PluginInvalid:
    return PluginInvalid(f"{location}: @{decorator} belongs on an `async def` at the top level of the file")


def hidden_declaration(location: SourceLocation, decorator: str, name: str) -> PluginInvalid:
    return PluginInvalid(
        f"{location}: @{decorator} of '{name}' can't be seen without running the file; "
        "put it on an `async def` at the top level of the main file"
    )


def contradicts_manifest(location: SourceLocation, field: str) -> str:
    return f"{location}: plugin(...) says another {field} than manifest.yaml; manifest.yaml counts"


def no_description(location: SourceLocation, tool: str) -> str:
    return f"{location}: the tool '{tool}' has no description; a model chooses by it, write a docstring"

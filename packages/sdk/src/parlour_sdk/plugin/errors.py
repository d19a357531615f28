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


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns `; did you mean ...?` if a known word is similar; otherwise an empty text."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=3)
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


def too_deep(place: SourceLocation, levels: int) -> PluginInvalid:
    return PluginInvalid(f"{place}: this is nested more than {levels} levels deep; write it flatter")


# Fields


def not_yaml(file: Path, reason: str) -> PluginInvalid:
    return PluginInvalid(f"{file} is not YAML: {' '.join(reason.split())}")


def duplicate_key(place: SourceLocation, field: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: {field} is given twice; keep one")


def unsupported_version(place: SourceLocation, found: str) -> PluginInvalid:
    newer = found.startswith("parlour/v") and found.removeprefix("parlour/v").isdigit() and found != "parlour/v0"
    side = (
        "it is written for a newer Parlour: update Parlour and its SDK"
        if newer
        else f"update the plugin: write {API_VERSION}"
    )
    return PluginInvalid(f"{place}: apiVersion: Input should be '{API_VERSION}' and is '{found}'; {side}")


def wrong_field(place: SourceLocation, field: str, error: Any) -> PluginInvalid:
    """Builds the error for a field; `error` is one of pydantic's error dicts: type, msg, input, ctx."""
    return PluginInvalid(f"{place}: {field or 'the file'}: {error['msg']}{_remedy(field, error)}")


def _remedy(field: str, error: Any) -> str:
    given, name = error.get("input"), field.rpartition(".")[2]
    match error["type"]:
        case "missing":
            return f"; add `{name}: {_SAMPLES.get(name, '...')}`"
        case "string_type" if isinstance(given, int | float):
            return f"; put it in quotes: '{given}'"
        case "dict_type" if name in ("label", "description") and isinstance(given, str):
            return f"; write one text per language: {{en_US: {given}}}"
        case "dict_type" | "model_type" if given is None:
            return "; fill it in or leave it out"
        case "list_type":
            return "; write it as a list: [...]"
        case "literal_error" if isinstance(given, str):
            return suggestion(
                given, (word.strip("' ") for word in error["ctx"]["expected"].replace(" or ", ",").split(","))
            )
        case _:
            return ""


_SAMPLES = {"version": "0.1.0", "author": "acme", "name": "hello", "apiVersion": API_VERSION}


def unknown_grant(place: SourceLocation, field: str, known: Iterable[str]) -> PluginInvalid:
    """Builds the error for an unknown capability or permission: never ignored, since the plugin relies on it."""
    words = sorted(known)
    name = field.rpartition(".")[2]
    return PluginInvalid(
        f"{place}: {field}: there is none of this name; known are {', '.join(words)}{suggestion(name, words)}"
    )


def unknown_key(place: SourceLocation, field: str, known: Iterable[str]) -> str:
    return to_single_line(f"{place}: {field}: an unknown key, passed over{suggestion(field.rpartition('.')[2], known)}")


def bad_name(place: SourceLocation, field: str, name: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: {field}: '{name}' can't be part of an identity; use letters, digits, '-', '_' and '.', no '.' first"
    )


def no_schema(place: SourceLocation, field: str, reason: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: {field}: {reason}; write a JSON Schema of an object: {{type: object, properties: {{...}}}}"
    )


# Files that a manifest refers to


def leaves_folder(place: SourceLocation, relative: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: '{relative}' leaves the plugin's folder; use a path inside it")


def no_file(place: SourceLocation, field: str, relative: str, what: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: {field} names {relative}, which is not {what} here")


def no_icon(place: SourceLocation, relative: str) -> str:
    return to_single_line(
        f"{place}: metadata.icon names {relative}, which is not a file here; the plugin is shown without an icon"
    )


def unnamed_requirements(place: SourceLocation, relative: str) -> str:
    return f"{place}: {relative} is not named here and nothing of it is installed; add `requirements: {relative}`"


def no_entry(place: SourceLocation, missing: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: {missing} is missing; it names the {'class' if missing.endswith('attr') else 'file and the class'}"
    )


# Components


def duplicate_component(place: SourceLocation, kind: str, name: str, first: SourceLocation) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: a second {kind} named '{name}'; give each its own metadata.name (the first is at {first})"
    )


def duplicate_engine(place: SourceLocation, first: SourceLocation) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: a second KnowledgeEngine (the first is at {first}); a plugin has one at most, make another of it"
    )


def unknown_event(place: SourceLocation, function: str, pattern: str, known: Iterable[str]) -> PluginInvalid:
    near = suggestion(pattern, known) or "; see the event types of the documentation, or use 'message.*' or '*'"
    return PluginInvalid(f"{place}: {function} waits for '{pattern}', and there is no such event{near}")


def unknown_pattern(place: SourceLocation, pattern: str, known: Iterable[str]) -> str:
    return to_single_line(
        f"{place}: permissions.events has '{pattern}', which is no event here{suggestion(pattern, known)}"
    )


def event_not_permitted(place: SourceLocation, function: str, pattern: str) -> str:
    return to_single_line(
        f"{place}: {function} will never hear of '{pattern}'; add it to the plugin's permissions.events"
    )


def no_class(
    place: SourceLocation, path: str, attr: str, kind: str, found: SourceLocation | None, others: Iterable[str]
) -> PluginInvalid:
    remedy = f"; write `class {attr}({kind}):` in {found}" if found is not None else suggestion(attr, others)
    return PluginInvalid(f"{place}: {path} has no class '{attr}' derived from {kind}{remedy}")


def no_main_class(place: SourceLocation, path: str, attr: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: {path} has no class '{attr}' derived from Plugin; write `class {attr}(Plugin):` there, "
        "or leave execution.python.attr out"
    )


def not_async(place: SourceLocation, function: str, wanted: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: {function} must be {wanted}")


def unsupported_signature(place: SourceLocation, function: str, reason: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: {function}: {reason}; a tool's parameters are texts, numbers, lists and the like")


def wrong_parameters(place: SourceLocation, function: str, wanted: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: {function} can't be called as {function.rpartition('.')[2]}({wanted}); write these parameters"
    )


def no_handlers(place: SourceLocation, name: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: {name} handles no events; mark an `async def` of it with @on('message.received')")


def construction_failed(place: SourceLocation, name: str, error: Exception) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: {name}() failed with {type(error).__name__}: {error}; a component is made without arguments"
    )


def unlisted_component(place: SourceLocation, kind: str, file: str) -> str:
    return to_single_line(f"{place}: this {kind} is not loaded; add `- {file}` to spec.components of manifest.yaml")


def invalid_default(place: SourceLocation, item: str, reason: str) -> str:
    return to_single_line(f"{place}: config_schema: the default of '{item}' {reason}")


def unknown_tool(place: SourceLocation | str, item: str, tool_id: str, known: Iterable[str]) -> str:
    words = list(known)
    own = [each for each in words if each.endswith(f".{tool_id}")]
    near = f"; did you mean {own[0]}?" if own else suggestion(tool_id, words)
    return to_single_line(
        f"{place}: '{item}' names the tool '{tool_id}', which no Host has{near or '; known are ' + ', '.join(words)}"
    )


# Code


def not_python(place: SourceLocation, reason: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: this is not Python: {reason}")


def missing_module(place: SourceLocation, module: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: there is no module '{module}'; add it to requirements.txt or, if it is your own, to the folder"
    )


def import_failed(place: SourceLocation, error: BaseException) -> PluginInvalid:
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return PluginInvalid(f"{place}: importing the plugin's code failed here with {words}")


# Declarations of a file: plugin(...) and the decorators


def no_declaration(file: Path) -> PluginInvalid:
    return PluginInvalid(
        f"{file} declares no plugin; write `from parlour_sdk import plugin` and {_EXAMPLE} at the top of the file"
    )


def duplicate_declaration(place: SourceLocation, first: SourceLocation) -> PluginInvalid:
    return PluginInvalid(f"{place}: plugin(...) is called a second time (the first is at {first}); keep one")


def not_literal(place: SourceLocation, call: str, argument: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: {call}(...): {argument} must be written out as a literal; it is read without running the file"
    )


def wrong_arguments(place: SourceLocation, call: str, reason: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: {call}(...): {reason}")


def bad_identity(place: SourceLocation, identity: object) -> PluginInvalid:
    return PluginInvalid(f"{place}: plugin({identity!r}): the first argument is author/name, such as 'acme/hello'")


def not_a_function(place: SourceLocation, decorator: str) -> PluginInvalid:
    return PluginInvalid(f"{place}: @{decorator} belongs on an `async def` at the top level of the file")


def hidden_declaration(place: SourceLocation, decorator: str, name: str) -> PluginInvalid:
    return PluginInvalid(
        f"{place}: @{decorator} of '{name}' can't be seen without running the file; "
        "put it on an `async def` at the top level of the main file"
    )


def contradicts_manifest(place: SourceLocation, field: str) -> str:
    return f"{place}: plugin(...) says another {field} than manifest.yaml; manifest.yaml counts"


def no_description(place: SourceLocation, tool: str) -> str:
    return f"{place}: the tool '{tool}' has no description; a model chooses by it, write a docstring"

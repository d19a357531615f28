"""Builds manifests from the declarations of a Python file, with the same checks as for YAML files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parlour_sdk.components.docstring import read_docstring
from parlour_sdk.protocol.manifest import PluginManifest

from ..values import dataclass
from . import problems
from .component_files import checked_component, require_name
from .event_names import require_event
from .files import Component
from .problems import API_VERSION, Place
from .source import Keys, Source, checked
from .syntax import Call, Decorated, Written, read_syntax

KINDS: Final = {"runner": "AgentRunner", "tool": "Tool", "command": "Command", "on": "EventListener"}
_ARGUMENTS: Final = {"config_schema": "config"}
"""Names of arguments that differ from the manifest's key."""


@dataclass(frozen=True, slots=True)
class Declarations:
    written: Written
    path: str
    """Path of the file relative to its folder."""
    warnings: list[str]

    @classmethod
    def of(cls, file: Path, path: str, warnings: list[str]) -> "Declarations":
        return cls(read_syntax(file), path, warnings)

    def manifest(self) -> PluginManifest:
        call = self._plugin()
        given = call.arguments
        author, _, name = str(given["identity"]).partition("/")
        data = {
            "apiVersion": API_VERSION,
            "kind": "Plugin",
            "metadata": {"author": author, "name": name, **_texts(given), **_given(given, "version")},
            "spec": _given(given, "permissions", "limits"),
            "execution": {"python": {"path": self.path}},
        }
        source = _source(call, data, self.warnings)
        if not (author and name):
            raise problems.bad_identity(source.place("metadata", "author"), given["identity"])
        for part in (author, name):
            require_name(source, part, "metadata", "author")
        return checked(source, PluginManifest)

    def requirements(self) -> tuple[str, ...]:
        call = self._plugin()
        given = call.arguments.get("requirements", ())
        if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
            place = Place(call.place.file, call.lines["requirements"])
            raise problems.wrong_arguments(place, "plugin", "requirements is a list of texts, such as ['httpx>=0.28']")
        return tuple(given)

    def compare(self, manifest: PluginManifest) -> None:
        """Warns if `plugin(...)` in the main file of a folder contradicts the folder's manifest.

        A plugin that began as a single file may keep its `plugin(...)` after it was moved to a folder.
        """
        if self.written.plugin is None:
            return
        declared, place = self.manifest(), self.written.plugin.place
        if declared.metadata != manifest.metadata:
            self.warnings.append(problems.says_other(place, "identity, version, label or description"))
        if declared.spec != manifest.spec.model_copy(update={"components": []}):
            self.warnings.append(problems.says_other(place, "set of permissions or limits"))

    def components(self) -> list[Component]:
        return [_component(function, self.path, self.warnings) for function in self.written.functions]

    def _plugin(self) -> Call:
        if self.written.plugin is None:
            raise problems.no_declaration(self.written.file)
        return self.written.plugin


def _component(function: Decorated, path: str, warnings: list[str]) -> Component:
    """Builds the component of a function. Several `@on` make one listener; other decorators may appear only once."""
    call = function.calls[0]
    for other in function.calls[1:]:
        if other.name != call.name or call.name != "on":
            raise problems.wrong_arguments(
                other.place, f"@{other.name}", f"'{function.name}' is {KINDS[call.name]} already"
            )
    for each in function.calls:
        if each.name == "on":
            require_event(each.place, function.name, each.arguments["event"])
    data = {
        "apiVersion": API_VERSION,
        "kind": KINDS[call.name],
        "metadata": {"name": _name(call, function), **_description(function), **_texts(call.arguments)},
        "spec": _spec(call),
        "execution": {"python": {"path": path, "attr": function.name}},
    }
    manifest = checked_component(_source(call, data, warnings))
    if manifest.kind == "Tool" and manifest.metadata.description is None:
        warnings.append(problems.no_description(function.place, manifest.metadata.name))
    return Component(function.place.file, manifest, function.place.line, declared=True)


def _name(call: Call, function: Decorated) -> Any:
    return call.arguments.get("name") or ("default" if call.name == "runner" else function.name)


def _spec(call: Call) -> dict[str, Any]:
    given = call.arguments
    spec = _given(given, "permissions", "context", "read_only", "usage", "aliases")
    if capabilities := given.get("capabilities"):
        named = isinstance(capabilities, list | tuple) and all(isinstance(each, str) for each in capabilities)
        spec["capabilities"] = dict.fromkeys(capabilities, True) if named else capabilities
    if config := given.get("config"):
        spec["config_schema"] = [_form_item(each) for each in config] if isinstance(config, list | tuple) else config
    return spec


def _form_item(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    options = item.get("options")
    if isinstance(options, list | tuple):
        item = {**item, "options": [{"value": each} if isinstance(each, str) else each for each in options]}
    return {"label": {"en_US": item.get("name")}, **_plain(item), **_texts(item)}


def _description(function: Decorated) -> dict[str, Any]:
    description, _ = read_docstring(function.docstring, function.parameters)
    return {"description": {"en_US": description}} if description else {}


def _texts(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns label and description by language; a plain text counts as English."""
    texts = {key: given[key] for key in ("label", "description") if given.get(key) is not None}
    return {key: {"en_US": text} if isinstance(text, str) else text for key, text in texts.items()}


def _given(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: _plain(given[name]) for name in names if given.get(name) is not None}


def _plain(value: Any) -> Any:
    """Converts tuples to lists, as YAML would have them."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _source(call: Call, data: dict[str, Any], warnings: list[str]) -> Source:
    def argument(keys: Keys) -> str:
        name = str(keys[1]) if len(keys) > 1 else ""
        if call.name == "plugin" and name in ("author", "name"):
            return "identity"
        return _ARGUMENTS.get(name, name)

    def line(keys: Keys) -> int | None:
        return call.lines.get(argument(keys), call.place.line)

    def shown(keys: Keys) -> str:
        return ".".join((f"{call.name}(...): {argument(keys)}", *(str(key) for key in keys[2:])))

    return Source(call.place.file, data, line, shown, warnings)

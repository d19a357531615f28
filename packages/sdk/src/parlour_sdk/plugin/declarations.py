"""Builds manifests from the declarations of a Python file, with the same checks as for YAML files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parlour_sdk.components.docstring import read_docstring
from parlour_sdk.protocol.manifest import PluginManifest

from ..values import dataclass
from . import errors
from .ast_scan import DeclaredCall, DecoratedFunction, ScannedFile, scan_file
from .component_files import require_name, validate_component
from .errors import API_VERSION, SourceLocation
from .event_checks import require_event
from .manifest_files import ComponentDefinition
from .source_map import Keys, SourceDocument, validate

KINDS: Final = {"runner": "AgentRunner", "tool": "Tool", "command": "Command", "on": "EventListener"}
_ARGUMENT_NAMES: Final = {"config_schema": "config"}
"""Names of arguments that differ from the manifest's key."""


@dataclass(frozen=True, slots=True)
class Declarations:
    scanned: ScannedFile
    path: str
    """Path of the file relative to its folder."""
    warnings: list[str]

    @classmethod
    def from_file(cls, file: Path, path: str, warnings: list[str]) -> "Declarations":
        return cls(scan_file(file), path, warnings)

    def manifest(self) -> PluginManifest:
        call = self._plugin()
        arguments = call.arguments
        author, _, name = str(arguments["identity"]).partition("/")
        data = {
            "apiVersion": API_VERSION,
            "kind": "Plugin",
            "metadata": {"author": author, "name": name, **_texts(arguments), **_pick(arguments, "version")},
            "spec": _pick(arguments, "permissions", "limits") | _form(arguments),
            "execution": {"python": {"path": self.path}},
        }
        source = _source(call, data, self.warnings)
        if not (author and name):
            raise errors.bad_identity(source.location("metadata", "author"), arguments["identity"])
        for part in (author, name):
            require_name(source, part, "metadata", "author")
        return validate(source, PluginManifest)

    def requirements(self) -> tuple[str, ...]:
        call = self._plugin()
        arguments = call.arguments.get("requirements", ())
        if not isinstance(arguments, list | tuple) or not all(isinstance(each, str) for each in arguments):
            location = SourceLocation(call.location.file, call.lines["requirements"])
            raise errors.wrong_arguments(location, "plugin", "requirements is a list of texts, such as ['httpx>=0.28']")
        return tuple(arguments)

    def warn_if_different(self, manifest: PluginManifest) -> None:
        """Warns if `plugin(...)` in the main file of a folder contradicts the folder's manifest.

        A plugin that began as a single file may keep its `plugin(...)` after it was moved to a folder.
        """
        if self.scanned.plugin is None:
            return
        declared, location = self.manifest(), self.scanned.plugin.location
        if declared.metadata != manifest.metadata:
            self.warnings.append(errors.contradicts_manifest(location, "identity, version, label or description"))
        if declared.spec != manifest.spec.model_copy(update={"components": []}):
            self.warnings.append(errors.contradicts_manifest(location, "set of permissions or limits"))

    def components(self) -> list[ComponentDefinition]:
        return [_component(function, self.path, self.warnings) for function in self.scanned.functions]

    def _plugin(self) -> DeclaredCall:
        if self.scanned.plugin is None:
            raise errors.no_declaration(self.scanned.file)
        return self.scanned.plugin


def _component(function: DecoratedFunction, path: str, warnings: list[str]) -> ComponentDefinition:
    """Builds the component of a function. Several `@on` make one listener; other decorators may appear only once."""
    call = function.calls[0]
    for extra_call in function.calls[1:]:
        if extra_call.name != call.name or call.name != "on":
            raise errors.wrong_arguments(
                extra_call.location, f"@{extra_call.name}", f"'{function.name}' is {KINDS[call.name]} already"
            )
    for each in function.calls:
        if each.name == "on":
            require_event(each.location, function.name, each.arguments["event"])
    data = {
        "apiVersion": API_VERSION,
        "kind": KINDS[call.name],
        "metadata": {"name": _name(call, function), **_description(function), **_texts(call.arguments)},
        "spec": _spec(call),
        "execution": {"python": {"path": path, "attr": function.name}},
    }
    manifest = validate_component(_source(call, data, warnings))
    if manifest.kind == "Tool" and manifest.metadata.description is None:
        warnings.append(errors.no_description(function.location, manifest.metadata.name))
    return ComponentDefinition(function.location.file, manifest, function.location.line, declared=True)


def _name(call: DeclaredCall, function: DecoratedFunction) -> Any:
    return call.arguments.get("name") or ("default" if call.name == "runner" else function.name)


def _spec(call: DeclaredCall) -> dict[str, Any]:
    arguments = call.arguments
    spec = _pick(arguments, "permissions", "context", "read_only", "usage", "aliases")
    if capabilities := arguments.get("capabilities"):
        are_names = isinstance(capabilities, list | tuple) and all(isinstance(each, str) for each in capabilities)
        spec["capabilities"] = dict.fromkeys(capabilities, True) if are_names else capabilities
    return spec | _form(arguments)


def _form(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the form of a configuration, if one is declared."""
    config = arguments.get("config")
    if not config:
        return {}
    return {"config_schema": [_form_item(each) for each in config] if isinstance(config, list | tuple) else config}


def _form_item(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    options = item.get("options")
    if isinstance(options, list | tuple):
        item = {**item, "options": [{"value": each} if isinstance(each, str) else each for each in options]}
    return {"label": {"en_US": item.get("name")}, **_plain(item), **_texts(item)}


def _description(function: DecoratedFunction) -> dict[str, Any]:
    description, _ = read_docstring(function.docstring, function.parameters)
    return {"description": {"en_US": description}} if description else {}


def _texts(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns label and description by language; a plain text counts as English."""
    texts = {key: arguments[key] for key in ("label", "description") if arguments.get(key) is not None}
    return {key: {"en_US": text} if isinstance(text, str) else text for key, text in texts.items()}


def _pick(arguments: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: _plain(arguments[name]) for name in names if arguments.get(name) is not None}


def _plain(value: Any) -> Any:
    """Converts tuples to lists, as YAML would have them."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _source(call: DeclaredCall, data: dict[str, Any], warnings: list[str]) -> SourceDocument:
    def argument(keys: Keys) -> str:
        name = str(keys[1]) if len(keys) > 1 else ""
        if call.name == "plugin" and name in ("author", "name"):
            return "identity"
        return _ARGUMENT_NAMES.get(name, name)

    def line(keys: Keys) -> int | None:
        return call.lines.get(argument(keys), call.location.line)

    def field_name(keys: Keys) -> str:
        return ".".join((f"{call.name}(...): {argument(keys)}", *(str(key) for key in keys[2:])))

    return SourceDocument(call.location.file, data, line, field_name, warnings)

"""Keeps the old import paths of renamed modules working for one release.

Importing an old path loads the module under its new name and emits a DeprecationWarning.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

RENAMED_MODULES = {
    "api.pieces": "api.chunks",
    "api.shared": "api.base",
    "authoring.chat.agent": "authoring.chat.session",
    "authoring.chat.shown": "authoring.chat.run_printer",
    "authoring.chat.talk": "authoring.chat.conversation",
    "lazily": "_lazy_imports",
    "plugin.event_names": "plugin.event_checks",
    "plugin.files": "plugin.manifest_files",
    "plugin.loaded": "plugin.loaded_plugin",
    "plugin.loading": "plugin.loader",
    "plugin.one_file": "plugin.single_file",
    "plugin.problems": "plugin.errors",
    "plugin.reading": "plugin.reader",
    "plugin.shapes": "plugin.signature_checks",
    "plugin.source": "plugin.source_map",
    "plugin.syntax": "plugin.ast_scan",
    "protocol.access": "protocol.rules.permissions",
    "service.asking": "service.requests",
    "testing.calling": "testing.client",
    "testing.facts": "testing.records",
    "testing.line": "testing.in_memory_connection",
    "testing.occasion": "testing.event_fixture",
    "testing.offer": "testing.host_resources",
    "testing.openings": "testing.run_setup",
    "testing.rules": "protocol.rules.results",
    "testing.served.surroundings": "testing.served.catalog",
    "wire.bounds": "wire.frame_limits",
    "wire.calling": "wire.client",
    "wire.serving": "wire.server",
    "wire.slots": "wire.call_slots",
    "wire.throttle": "wire.read_limiter",
    "wire.websocket.goodbyes": "wire.websocket.close_reasons",
}
"""New module paths by old ones, both relative to `parlour_sdk`."""


class RenamedModuleFinder:
    """Finds modules under their old names; asked only after the regular import has failed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, module = fullname.partition(".")
        if package != "parlour_sdk" or module not in RENAMED_MODULES:
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]  # importlib.abc.Loader would cost an import

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new_name = f"parlour_sdk.{RENAMED_MODULES[spec.name.partition('.')[2]]}"
        warnings.warn(
            f"{spec.name} is now {new_name}; the old name is removed in the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        module = import_module(new_name)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restores the module's own spec; the module was executed under its new name."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Adds the finder behind all others, once per process."""
    if not any(isinstance(finder, RenamedModuleFinder) for finder in sys.meta_path):
        sys.meta_path.append(RenamedModuleFinder())

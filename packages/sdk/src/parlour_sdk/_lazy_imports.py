"""Imports the exported names of a package on first use, so that the process of a small plugin stays small."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_getattr(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Builds the package's `__getattr__`.

    `modules` maps each module to the names it exports; a module's own name exports the module itself.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = import_module(homes[name], package)
        return module if homes[name] == f".{name}" else getattr(module, name)

    return find

"""Reads plugins from files and loads their code: `read_plugin` reads and validates, `load` imports.

The package is callable: `parlour_sdk.plugin(...)` declares the plugin of a single file
(`parlour_sdk.decorators.plugin`). That function and this package share their name, so `from parlour_sdk import plugin`
gives both.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from parlour_sdk._lazy_imports import lazy_getattr

from .errors import PluginInvalid
from .loaded_plugin import LoadedPlugin
from .manifest_files import ComponentDefinition, PluginDefinition
from .reader import read_plugin

if TYPE_CHECKING:
    from .loader import load, load_runners
    from .single_file import package_files

__all__ = [
    "ComponentDefinition",
    "LoadedPlugin",
    "PluginDefinition",
    "PluginInvalid",
    "load",
    "load_runners",
    "package_files",
    "read_plugin",
]

__getattr__ = lazy_getattr(__name__, {".loader": ("load", "load_runners"), ".single_file": ("package_files",)})


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> None:
        from parlour_sdk.decorators import plugin

        plugin(*arguments, **named)


sys.modules[__name__].__class__ = _CallablePackage

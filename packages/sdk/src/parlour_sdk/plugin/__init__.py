"""Reads plugins from files and loads their code: `read_plugin` reads and validates, `load` imports.

The package is callable: `parlour_sdk.plugin(...)` declares the plugin of a single file
(`parlour_sdk.decorators.plugin`). That function and this package share their name, so `from parlour_sdk import plugin`
gives both.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from parlour_sdk.lazily import offered

from .files import Component, Plugin
from .loaded import LoadedPlugin
from .problems import PluginInvalid
from .reading import read_plugin

if TYPE_CHECKING:
    from .loading import load, load_runners
    from .one_file import packaged

__all__ = [
    "Component",
    "LoadedPlugin",
    "Plugin",
    "PluginInvalid",
    "load",
    "load_runners",
    "packaged",
    "read_plugin",
]

__getattr__ = offered(__name__, {".loading": ("load", "load_runners"), ".one_file": ("packaged",)})


class _Declaring(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> None:
        from parlour_sdk.decorators import plugin

        plugin(*arguments, **named)


sys.modules[__name__].__class__ = _Declaring

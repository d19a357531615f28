"""Imports a plugin's code. Errors name the file, the line and the remedy."""

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from . import errors
from .errors import SourceLocation


def import_file(folder: Path, relative: str) -> ModuleType:
    """Imports a file, once per folder and process; a failed import leaves nothing behind in `sys.modules`."""
    file = (folder / relative).resolve()
    name = "plugin_" + "_".join(Path(relative).with_suffix("").parts).replace("-", "_")
    existing = sys.modules.get(name)
    if existing is not None and existing.__file__ == str(file):
        return existing
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise errors.import_failed(SourceLocation(file), ImportError("it is no Python file"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise _to_plugin_error(error, file, folder.resolve()) from error
        raise
    return module


def _to_plugin_error(error: BaseException, file: Path, folder: Path) -> errors.PluginInvalid:
    if isinstance(error, SyntaxError):
        return errors.not_python(SourceLocation(Path(error.filename or file), error.lineno), error.msg)
    location = _innermost(error.__traceback__, folder) or SourceLocation(file)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return errors.missing_module(location, error.name)
    return errors.import_failed(location, error)


def _innermost(traceback: TracebackType | None, folder: Path) -> SourceLocation | None:
    """Returns the innermost line of the plugin's own code in a traceback."""
    location = None
    while traceback is not None:
        file = Path(traceback.tb_frame.f_code.co_filename)
        if file.is_relative_to(folder):
            location = SourceLocation(file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return location


def locate(thing: Any, otherwise: SourceLocation) -> SourceLocation:
    """Returns the location of a function or class: the line of its `def` or `class`, below its decorators."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(thing))
        lines, first_line = inspect.getsourcelines(thing)
    except (OSError, TypeError):
        return otherwise
    heads = (
        number
        for number, line in enumerate(lines, first_line)
        if line.lstrip().startswith(("async def", "def", "class"))
    )
    return SourceLocation(Path(file or otherwise.file), next(heads, first_line))

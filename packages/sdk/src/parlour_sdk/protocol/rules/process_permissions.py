"""Writes the permission to start a program as a text that names everything in it, and reads it back.

A grant is stored as this text, so a declaration that a later version changes has to be granted again:
`goose: runs goose; reads /srv/docs; writes workspace; home own; network on`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..manifest import PluginPermissions
from ..processes import WORKSPACE, ProcessPermission

PROCESSES = "processes"
"""Key of these permissions."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_SEPARATORS = set(";,:\n\0")
_FIELDS = {"runs": "commands", "reads": "read", "writes": "write"}


def problem(permission: ProcessPermission) -> str:
    """Returns what is wrong with a declaration; empty if it is valid."""
    if not _NAME.fullmatch(permission.name):
        return "name: use up to 40 small letters, digits and hyphens, a letter first"
    if not permission.commands:
        return "commands: name at least one program"
    for command in permission.commands:
        if not command or set(command) & (_SEPARATORS | set("/ \t")):
            return f"commands: {command!r} is not the plain name of a program"
    for path in (*permission.read, *permission.write):
        if path != WORKSPACE and (not path.startswith("/") or set(path) & _SEPARATORS):
            return f"read and write: {path!r} is not an absolute path"
    return ""


def to_text(permission: ProcessPermission) -> str:
    clauses = [f"runs {','.join(permission.commands)}"]
    clauses += [f"reads {','.join(permission.read)}"] if permission.read else []
    clauses += [f"writes {','.join(permission.write)}"] if permission.write else []
    clauses += [f"home {permission.home}", f"network {'on' if permission.network else 'off'}"]
    return f"{permission.name}: {'; '.join(clauses)}"


def from_text(text: str) -> ProcessPermission:
    """Reads a stored grant. Raises ValueError if it is none."""
    name, _, rest = text.partition(": ")
    values: dict[str, Any] = {"name": name}
    for clause in rest.split("; "):
        key, _, value = clause.partition(" ")
        if key in _FIELDS:
            values[_FIELDS[key]] = value.split(",")
        elif key == "home":
            values["home"] = value
        elif key == "network":
            values["network"] = value == "on"
    return ProcessPermission.model_validate(values)


def to_lists(permissions: PluginPermissions) -> dict[str, list[str]]:
    """Returns permissions as lists of texts by key, without keys that have none."""
    lists = permissions.model_dump(exclude={PROCESSES})
    lists[PROCESSES] = [to_text(each) for each in permissions.processes]
    return {key: list(dict.fromkeys(values)) for key, values in lists.items() if values}


def from_lists(lists: Mapping[str, Iterable[str]]) -> PluginPermissions:
    """Returns the permissions for lists of texts by key."""
    values: dict[str, Any] = {key: list(texts) for key, texts in lists.items()}
    values[PROCESSES] = [from_text(each) for each in values.get(PROCESSES, ())]
    return PluginPermissions.model_validate(values)

"""An agent's box policy: which tools of the Box it gets, with which profile, in which session."""

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from parlour_sdk.values import dataclass

from .profiles import DEFAULT_PROFILE, PROFILES, BoxProfile
from .session_template import DEFAULT_TEMPLATE

NAMESPACE: Final = "box"
EXEC_TOOL: Final = "box.exec"
BOX_TOOLS: Final = ("exec", "read", "write", "edit", "glob", "grep")
SKILL_NAMESPACE: Final = "skills"
SKILL_TOOLS: Final = ("skills.register_skill", "skills.edit_skill")
"""Tools by which an agent writes skills, if its runner is for authors."""
WRITING_TOOLS: Final = ("write", "edit")
"""Tools that an agent with a read-only workspace does not get."""


@dataclass(frozen=True, slots=True)
class BoxPolicy:
    """What one agent may do in the Box. Without tools it gets nothing."""

    tools: tuple[str, ...] = ()
    read_only: bool = False
    network: bool | None = None
    """None means as in the profile."""
    profile: str = DEFAULT_PROFILE
    session_template: str = DEFAULT_TEMPLATE
    ask: tuple[str, ...] = ()
    """Patterns of commands that need a person's approval."""
    author_skills: bool = False
    """True if the agent may install skills and change those that it has installed."""
    host_path: str = ""
    """File or folder of the machine that the sandbox shows read-only, at the same path; empty for none."""

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "BoxPolicy":
        fields = dict(values)
        for name in ("tools", "ask"):
            fields[name] = tuple(fields.get(name) or ())
        return cls(**fields)

    @property
    def limits(self) -> BoxProfile:
        return PROFILES[self.profile]

    @property
    def is_read_only(self) -> bool:
        return self.limits.read_only or self.read_only

    @property
    def has_network(self) -> bool:
        locked = "network" in self.limits.locked or self.network is None
        return self.limits.network if locked else bool(self.network)

    @property
    def shown_paths(self) -> list[str]:
        """Returns the files of the machine that the sandbox shows."""
        return [self.host_path] if self.host_path and "host_path" not in self.limits.locked else []

    @property
    def tool_names(self) -> frozenset[str]:
        """Returns the full names of the tools that the agent gets."""
        withheld = WRITING_TOOLS if self.is_read_only else ()
        return frozenset(f"{NAMESPACE}.{tool}" for tool in self.tools if tool not in withheld)

    def asks(self, tool_name: str, parameters: Mapping[str, Any]) -> bool:
        """Returns whether a call is a command that needs an approval. Each line and part of it is compared, too."""
        if tool_name != EXEC_TOOL or not self.ask:
            return False
        command = str(parameters.get("command", ""))
        parts = [command.strip(), *(part.strip() for part in _split(command))]
        return any(fnmatchcase(part, pattern) for pattern in self.ask for part in parts)

    def problems(self) -> list[tuple[str, str]]:
        """Returns the fields that contradict the profile, each with a message."""
        found = []
        if self.network is not None and "network" in self.limits.locked and self.network != self.limits.network:
            found.append(("network", f"the profile {self.profile} fixes it; choose network_basic to have a network"))
        if self.host_path and "host_path" in self.limits.locked:
            found.append(("host_path", f"the profile {self.profile} shows no files; choose offline_readonly"))
        elif self.host_path and not is_plain_path(self.host_path):
            found.append(("host_path", "write an absolute path without . and .."))
        return found


def is_plain_path(path: str) -> bool:
    """Returns whether a path is absolute and written without detours."""
    return os.path.isabs(path) and os.path.normpath(path) == path and "\0" not in path


def _split(command: str) -> list[str]:
    for separator in ("&&", "||", ";", "|", "&", "$(", "`", "(", "\n"):
        command = command.replace(separator, "\0")
    return command.split("\0")

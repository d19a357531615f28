"""Describes the permissions that a plugin asks for in sentences that an operator can decide by. Grants nothing.

The page translates a sentence by its key and values; its text is in English.
"""

from collections.abc import Iterator

from parlour_sdk.protocol.events import PATH_HOOKS
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.protocol.processes import ANY_COMMAND, WORKSPACE, ProcessPermission
from parlour_sdk.values import dataclass

PERMISSION_TEXTS = {
    "platform_api.message.send": "send messages on your bots' platforms",
    "platform_api.message.manage": "edit, delete and forward messages and react to them",
    "platform_api.message.read": "read messages on your bots' platforms",
    "platform_api.group.read": "see the groups that your bots are in and who is in them",
    "platform_api.group.manage": "rename and leave groups",
    "platform_api.member.moderate": "mute, unmute and remove members of groups",
    "platform_api.user.read": "see the profiles of people",
    "platform_api.requests.answer": "answer friend requests and invitations to groups",
    "platform_api.media": "fetch and upload images and files",
    "platform_api.platform.call": "call whatever else a platform's interface offers to your bots",
    "events.all": "see every event: all that your bots receive, and what happens in Parlour",
    "events.some": "see these events: {events}",
    "events.path": "read, change and stop messages before an agent or a chat gets them: {events}",
    "models.invoke": "ask your models, which may cost money",
    "models.stream": "ask your models and get the answer as it is made, which may cost money",
    "models.rerank": "let a model order texts by relevance, which may cost money",
    "models.embed": "let a model turn texts into vectors, which may cost money",
    "tools.detail": "see which tools there are and how they are called",
    "tools.call": "call tools",
    "knowledge_bases.list": "see which knowledge bases there are",
    "knowledge_bases.retrieve": "search in knowledge bases",
    "storage.plugin": "keep data of its own in Parlour",
    "storage.workspace": "read and write the data that all plugins of the workspace share",
    "storage.binding": "keep data for each agent and bot",
    "agent_runs.read": "see runs of agents, with what was said in them",
    "agent_runs.create": "start runs of agents",
    "agent_runs.control": "cancel runs of agents",
    "agent_runs.admin": "change and delete anybody's runs",
    "runtimes.read": "see which runtimes are connected",
    "runtimes.admin": "connect and remove runtimes",
    "processes.program": "have {commands} started outside its sandbox, in one that shows the system, the program "
    "itself and what is named here; the program may start others",
    "processes.any": "have any program started that is in a folder of the setting programs.folders, "
    "outside its sandbox, in one that shows the system, the program itself and what is named here",
    "processes.read": "{name}: let the program read {paths}",
    "processes.workspace": "{name}: let the program change files in its working directory",
    "processes.write": "{name}: let the program change files in {paths}",
    "processes.home": "{name}: keep a home folder for the program, with its settings, sessions and credentials",
    "processes.network": "{name}: let the program use the whole network, and with it whatever listens on this machine",
    "network.unfiltered": "reach {hosts} over the network (the sandbox can't tell hosts apart: it gets the whole "
    "network, and with it whatever listens on this machine)",
    "network.open": "reach {hosts} over the network",
    "network.any": "reach any host over the network, and with it whatever listens on this machine",
    "no_sandbox": "without having asked: use the whole network and whatever files the user that runs Parlour may, "
    "since there is no sandbox around it",
}
EVERY_EVENT = "*"
"""Event type in a manifest that stands for all events."""
EVERY_HOST = "*"
"""Host in a manifest that stands for all hosts: the address is a setting of the plugin's agents."""


@dataclass(frozen=True, slots=True)
class PermissionText:
    """One permission of a plugin, as text and as a key with values for translation."""

    key: str
    values: dict[str, str]
    text: str
    """English description of the permission, such as "call tools"."""


def describe_permissions(permissions: PluginPermissions, sandboxed: bool) -> list[PermissionText]:
    """Returns the sentences for a plugin's permissions.

    `sandboxed` says whether a sandbox keeps the plugin from everything that it did not ask for.
    """
    return [
        *_by_name(permissions),
        *_events(permissions.events),
        *(sentence for each in permissions.processes for sentence in _process(each)),
        *_network(permissions.network, sandboxed),
    ]


def _by_name(permissions: PluginPermissions) -> Iterator[PermissionText]:
    for key, names in permissions.model_dump(exclude={"events", "network", "processes"}).items():
        yield from (_sentence(f"{key}.{name}") for name in dict.fromkeys(names))


def _events(types: list[str]) -> Iterator[PermissionText]:
    if EVERY_EVENT in types:
        yield _sentence("events.all")
    elif others := [each for each in types if each not in PATH_HOOKS]:
        yield _sentence("events.some", events=_joined(others))
    if on_path := [each for each in types if each in PATH_HOOKS]:
        yield _sentence("events.path", events=_joined(on_path))


def _process(permission: ProcessPermission) -> Iterator[PermissionText]:
    """Returns everything that the grant of a program covers."""
    name = permission.name
    if ANY_COMMAND in permission.commands:
        yield _sentence("processes.any")
    else:
        yield _sentence("processes.program", commands=_joined(permission.commands))
    if permission.read:
        yield _sentence("processes.read", name=name, paths=_joined(permission.read))
    if WORKSPACE in permission.write:
        yield _sentence("processes.workspace", name=name)
    if paths := [each for each in permission.write if each != WORKSPACE]:
        yield _sentence("processes.write", name=name, paths=_joined(paths))
    if permission.home == "own":
        yield _sentence("processes.home", name=name)
    if permission.network:
        yield _sentence("processes.network", name=name)


def _network(hosts: list[str], sandboxed: bool) -> Iterator[PermissionText]:
    if EVERY_HOST in hosts:
        yield _sentence("network.any")
    elif hosts:
        yield _sentence("network.unfiltered" if sandboxed else "network.open", hosts=_joined(hosts))
    if not sandboxed:
        yield _sentence("no_sandbox")


def _joined(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _sentence(key: str, **values: str) -> PermissionText:
    return PermissionText(key, values, PERMISSION_TEXTS[key].format_map(values))

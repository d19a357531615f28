"""Arguments of `parlour plugin`. Each action is implemented in a module of its own, which is imported when needed."""

import argparse
from typing import TYPE_CHECKING

from .plugin_commands import parser

if TYPE_CHECKING:
    from parlour.app.settings import HostSettings


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", common: argparse.ArgumentParser) -> None:
    actions = commands.add_parser("plugin", help="plugins").add_subparsers(required=True, metavar="ACTION")
    install = actions.add_parser("install", parents=[common], help="install or upgrade a plugin")
    install.add_argument(
        "source", metavar="SOURCE", help="a folder, .py file, zip or git+URL[@REVISION][#subdirectory=F]"
    )
    install.add_argument(
        "--grant",
        metavar="WHAT",
        help="the permissions it gets: all, none, or a list such as models,network:api.example.org "
        "(default: all; for an upgrade: those it has)",
    )
    install.add_argument("--upgrade", metavar="AUTHOR/NAME", help="refuse anything but a new version of this plugin")
    install.set_defaults(run=_install)
    listing = actions.add_parser("list", parents=[common], help="list the plugins, how they are and what they may do")
    listing.set_defaults(run=_list)
    remove = actions.add_parser("remove", parents=[common], help="remove a plugin; its agents stay")
    remove.add_argument("plugin_id", metavar="AUTHOR/NAME")
    remove.add_argument("--delete-data", action="store_true", help="delete what the plugin has stored, too")
    remove.set_defaults(run=_remove)
    parser.add(actions, common)


def _install(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import plugins

    plugins.install(settings, arguments.source, arguments.grant, arguments.upgrade)


def _list(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import plugins

    plugins.list_plugins(settings)


def _remove(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import plugins

    plugins.remove(settings, arguments.plugin_id, "delete" if arguments.delete_data else "keep")

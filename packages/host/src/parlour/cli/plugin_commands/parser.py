"""Arguments of the commands for plugin authors. Each is implemented in a module that is imported when needed."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from parlour.app.settings import HostSettings


PATH = "the plugin's folder, or its one .py file"
Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add(actions: Actions, common: argparse.ArgumentParser) -> None:
    _add_new(actions)
    validate = _add(actions, "validate", "read and import a plugin, and say what is wrong with it")
    validate.set_defaults(run=_validate)
    test = _add(actions, "test", "validate a plugin, then run its tests")
    test.add_argument("pytest", nargs=argparse.REMAINDER, metavar="...", help="handed on to pytest")
    test.set_defaults(run=_test)
    _add_chat(actions)
    run = actions.add_parser("run", parents=[common], help="keep a plugin's newest state in a running Host")
    run.add_argument("path", type=Path, metavar="PATH", help=PATH)
    run.add_argument(
        "--grant",
        default="all",
        metavar="WHAT",
        help="the permissions it gets: all (the default), none, or a list such as models,network:api.example.org",
    )
    run.add_argument("--remove", action="store_true", help="remove it from the Host at the end")
    run.set_defaults(run=_run)
    build = _add(actions, "build", "make a zip of a plugin, to be installed elsewhere")
    build.add_argument("-o", "--output", type=Path, metavar="FILE", help="(default: AUTHOR-NAME-VERSION.zip beside it)")
    build.set_defaults(run=_build)


def _add(actions: Actions, name: str, does: str) -> argparse.ArgumentParser:
    """Adds a command that needs no data directory."""
    parser = actions.add_parser(name, help=does)
    parser.add_argument("path", type=Path, metavar="PATH", help=PATH)
    parser.set_defaults(data=None, config=None, for_authors=True)
    return parser


def _add_new(actions: Actions) -> None:
    new = actions.add_parser("new", help="begin a plugin: an agent that works, with tests that pass")
    new.add_argument("identity", metavar="AUTHOR/NAME")
    new.add_argument("--one-file", action="store_true", help="one Python file instead of a folder")
    new.add_argument("--into", type=Path, default=Path(), metavar="DIR", help="(default: the current folder)")
    new.set_defaults(run=_new, data=None, config=None, for_authors=True)


def _add_chat(actions: Actions) -> None:
    chat = _add(actions, "chat", "talk to a plugin's agent here, without a Host")
    chat.add_argument("--runner", metavar="NAME", help="(default: the only one, or the one named 'default')")
    chat.add_argument(
        "--config", action="append", default=[], dest="pairs", metavar="NAME=VALUE", help="a field of its form"
    )
    chat.add_argument(
        "--model",
        default="echo",
        metavar="WHAT",
        help="how models answer: 'echo' (the default), or a file with one answer a line",
    )
    chat.set_defaults(run=_chat)


def _new(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import new

    new.run(arguments.identity, arguments.one_file, arguments.into)


def _validate(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import validate

    validate.run(settings, arguments.path)


def _test(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import test

    test.run(settings, arguments.path, arguments.pytest)


def _chat(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import chat

    chat.run(settings, arguments.path, arguments.runner, arguments.pairs, arguments.model)


def _run(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import run

    run.run(settings, arguments.path, arguments.remove, arguments.grant)


def _build(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import build

    build.run(settings, arguments.path, arguments.output)

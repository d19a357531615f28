"""Builds the parser of the command line from the table of commands."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from parlour.version import VERSION

from .commands import COMMANDS, DEFAULT_COMMAND, GROUPS, CliCommand

DEFAULT_DATA = "./data if it exists, otherwise the user's data folder"
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parses a command line. One without a command, such as `parlour --port 80`, is one of the default command."""
    own_options = ("-h", "--help", "--version")
    if not words or (words[0].startswith("-") and words[0] not in own_options):
        words = [DEFAULT_COMMAND, *words]
    return build_parser().parse_args(words)


def build_parser() -> argparse.ArgumentParser:
    """Builds the parser. It sets `command` to the row of the table that was called."""
    parser = argparse.ArgumentParser(prog="parlour", description="An agent host for chat.")
    parser.add_argument("--version", action="version", version=f"parlour {VERSION}")
    subparsers: dict[str, Subparsers] = {"": parser.add_subparsers(required=True, metavar="COMMAND")}
    parsers: dict[str, argparse.ArgumentParser] = {}
    for command in COMMANDS:
        parsers[command.words] = _add_command(_group(command.words, subparsers, parsers), command)
    return parser


def _group(command: str, subparsers: dict[str, Subparsers], parsers: dict[str, argparse.ArgumentParser]) -> Subparsers:
    """Returns where a command is added, after adding the words before its last one."""
    group = command.rpartition(" ")[0]
    if group not in subparsers:
        # A command that has commands below it, such as `runtime`, can also be called by itself.
        parser = parsers.get(group) or _group(group, subparsers, parsers).add_parser(
            group.split()[-1], help=GROUPS[group]
        )
        subparsers[group] = parser.add_subparsers(required=group not in parsers, metavar="ACTION")
    return subparsers[group]


def _add_command(parsers: Subparsers, command: CliCommand) -> argparse.ArgumentParser:
    parents = [] if command.options == "author" else [_options(command.options == "after_group")]
    parser = parsers.add_parser(command.words.split()[-1], parents=parents, help=command.help)
    for argument in command.arguments:
        parser.add_argument(*argument.flags, **argument.options)
    if command.options == "author":
        parser.set_defaults(data=None, config=None)
    parser.set_defaults(command=command)
    return parser


def _options(after_group: bool) -> argparse.ArgumentParser:
    """Returns the common options. If absent after a group, they must not override those given before it."""
    default = argparse.SUPPRESS if after_group else None
    owner = "the runtime's" if after_group else "the"
    options = argparse.ArgumentParser(add_help=False, argument_default=default)
    options.add_argument("--data", type=Path, metavar="DIR", help=f"{owner} data directory (default: {DEFAULT_DATA})")
    options.add_argument("--config", type=Path, metavar="FILE", help="a YAML file with settings")
    return options

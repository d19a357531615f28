"""Parses the command line and runs one command."""

import argparse
import os
import sys
from importlib import import_module

from parlour.app.process_tuning import pause_garbage_collection

from .commands import COMMANDS, DEFAULT_COMMAND, CliCommand
from .parser import parse


class CommandError(Exception):
    """Raised when a command fails; the message says why and what to do."""


def main() -> None:
    arguments = parse(sys.argv[1:])
    command: CliCommand = arguments.command
    if command.words in ("serve", DEFAULT_COMMAND):
        pause_garbage_collection()
    # To find its plugins, pydantic would read the metadata of all installed packages.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from parlour.app.settings import ConfigurationInvalid
    from parlour.app.settings_loader import load

    previous = os.umask(0o077)  # files of a data directory are accessible only to their owner
    if command.options == "author":
        os.umask(previous)
    try:
        settings = load(arguments.config, {"data": arguments.data, **_overrides(arguments)})
        module, _, function = command.function.partition(":")
        parameters = {each.name: getattr(arguments, each.name) for each in command.arguments if not each.setting}
        getattr(import_module(f".{module}", __package__), function)(settings, **parameters)
        sys.stdout.flush()
    except (ConfigurationInvalid, CommandError) as error:
        print(f"parlour: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader closed the pipe: discard the remaining output, also that of the final flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    finally:
        os.umask(previous)


def _overrides(arguments: argparse.Namespace) -> dict[str, object]:
    """Returns the settings that arguments override, including those before the words of a command in a group."""
    overriding = (argument for command in COMMANDS for argument in command.arguments if argument.setting)
    return {argument.setting: getattr(arguments, argument.name, None) for argument in overriding}


if __name__ == "__main__":
    # Commands raise `CommandError` of the imported module, which `__main__` would not catch.
    from parlour.cli.main import main as imported_main

    imported_main()

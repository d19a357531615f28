"""Lists every command of `parlour` with its options, defaults and help."""

import argparse
from collections.abc import Iterator

from parlour.cli.parser import build_parser


def options() -> list[str]:
    return list(_walk(build_parser()))


def _walk(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help for each in action._choices_actions}
            for name, child in action.choices.items():
                yield f"{child.prog}: {helps.get(name, '')}"
                yield from _walk(child)
        elif not isinstance(action, argparse._HelpAction):
            name = "/".join(action.option_strings) or action.dest
            choices = "|".join(map(str, action.choices or ()))
            required = "required" if action.required else f"default {action.default}"
            yield f"{parser.prog} {name} [{choices}] {required}: {action.help or ''}"

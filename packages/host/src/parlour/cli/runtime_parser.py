"""Arguments of `parlour runtime`. It is implemented in a module of its own, which is imported when needed."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parlour.app.settings import HostSettings


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", common: argparse.ArgumentParser) -> None:
    runtime = commands.add_parser("runtime", parents=[common], help="run plugins without a Host, for a Host elsewhere")
    runtime.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="address to listen on for Hosts (default: 127.0.0.1:5310); a Host uses it with the setting runtime.url",
    )
    runtime.set_defaults(run=_run)
    actions = runtime.add_subparsers(metavar="ACTION")
    token = actions.add_parser("token", help="the tokens by which Hosts may use it")
    _add_tokens(token.add_subparsers(required=True, metavar="ACTION"), _options())


def _add_tokens(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", options: argparse.ArgumentParser
) -> None:
    create = actions.add_parser("create", parents=[options], help="print a new token for one Host")
    create.add_argument("--name", required=True, help="which Host it is for")
    create.set_defaults(run=_create)
    actions.add_parser("list", parents=[options], help="list the tokens").set_defaults(run=_list)
    revoke = actions.add_parser("revoke", parents=[options], help="revoke a token; its Host is disconnected")
    revoke.add_argument("token_id")
    revoke.set_defaults(run=_revoke)


def _options() -> argparse.ArgumentParser:
    """Returns the common options for after an action; if absent there, they must not override those given before it."""
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--data", type=Path, metavar="DIR", help="the runtime's data directory (default: ./data)")
    options.add_argument("--config", type=Path, metavar="FILE", help="a YAML file with settings")
    return options


def _run(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import runtime

    runtime.run(settings)


def _create(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import runtime

    runtime.create_token(arguments, settings)


def _list(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import runtime

    runtime.list_tokens(arguments, settings)


def _revoke(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import runtime

    runtime.revoke_token(arguments, settings)

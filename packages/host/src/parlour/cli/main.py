"""Parses the command line and hands over to one command."""

import argparse
import sys
from pathlib import Path

from parlour.config import ConfigurationInvalid, Settings, load

from . import plugin_parser, runtime_parser


class CommandFailed(Exception):
    """A command can't do what it was asked; the message says why and what to do."""


def main() -> None:
    arguments = _parser().parse_args()
    try:
        settings = load(arguments.config, {"data": arguments.data, **_addresses(arguments)})
        arguments.run(arguments, settings)
    except (ConfigurationInvalid, CommandFailed) as error:
        print(f"parlour: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _addresses(arguments: argparse.Namespace) -> dict[str, object]:
    names = {"http.host": "host", "http.port": "port", "runtime.listen": "listen"}
    return {setting: getattr(arguments, name, None) for setting, name in names.items()}


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, metavar="DIR", help="the data directory (default: ./data)")
    common.add_argument("--config", type=Path, metavar="FILE", help="a YAML file with settings")
    parser = argparse.ArgumentParser(prog="parlour", description="An agent host for chat.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", parents=[common], help="run the Host")
    serve.add_argument("--host", metavar="H", help="address to listen on (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, metavar="P", help="port to listen on (default: 5300)")
    serve.set_defaults(run=_serve)

    keys = commands.add_parser("keys", help="API keys").add_subparsers(required=True, metavar="ACTION")
    create = keys.add_parser("create", parents=[common], help="print a new key")
    create.add_argument("--name", required=True, help="what the key is for")
    create.add_argument("--scope", choices=["admin", "operator", "viewer", "chat"], default="admin")
    create.set_defaults(run=_keys_create)
    keys.add_parser("list", parents=[common], help="list the keys").set_defaults(run=_keys_list)
    revoke = keys.add_parser("revoke", parents=[common], help="revoke a key")
    revoke.add_argument("key_id")
    revoke.set_defaults(run=_keys_revoke)

    plugin_parser.add(commands, common)
    runtime_parser.add(commands, common)

    why = commands.add_parser("why", parents=[common], help="say why an event was answered so, late, twice or not")
    why.add_argument("name", metavar="ID", help="of an event, a run or a platform's message")
    why.set_defaults(run=_why)
    return parser


def _serve(arguments: argparse.Namespace, settings: Settings) -> None:
    from parlour.host import Additions

    from . import serve

    serve.run(settings, Additions())


def _keys_create(arguments: argparse.Namespace, settings: Settings) -> None:
    from . import keys

    keys.create(settings, arguments.name, arguments.scope)


def _keys_list(arguments: argparse.Namespace, settings: Settings) -> None:
    from . import keys

    keys.show(settings)


def _keys_revoke(arguments: argparse.Namespace, settings: Settings) -> None:
    from . import keys

    keys.revoke(settings, arguments.key_id)


def _why(arguments: argparse.Namespace, settings: Settings) -> None:
    from . import why

    why.show(settings, arguments.name)


if __name__ == "__main__":
    main()

"""Parses the command line and runs one command."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from parlour.app.process_tuning import pause_garbage_collection

from . import plugin_parser, runtime_parser

if TYPE_CHECKING:
    from parlour.app.settings import HostSettings


class CommandError(Exception):
    """Raised when a command fails; the message says why and what to do."""


def main() -> None:
    arguments = _parser().parse_args()
    if arguments.run is _serve:
        pause_garbage_collection()
    # To find its plugins, pydantic would read the metadata of all installed packages.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from parlour.app.settings import ConfigurationInvalid
    from parlour.app.settings_loader import load

    previous = os.umask(0o077)  # files of a data directory are accessible only to their owner
    if arguments.for_authors:
        os.umask(previous)
    try:
        settings = load(arguments.config, {"data": arguments.data, **_addresses(arguments)})
        arguments.run(arguments, settings)
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


def _addresses(arguments: argparse.Namespace) -> dict[str, object]:
    names = {"http.host": "host", "http.port": "port", "runtime.listen": "listen"}
    return {setting: getattr(arguments, name, None) for setting, name in names.items()}


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, metavar="DIR", help="the data directory (default: ./data)")
    common.add_argument("--config", type=Path, metavar="FILE", help="a YAML file with settings")
    parser = argparse.ArgumentParser(prog="parlour", description="An agent host for chat.")
    parser.set_defaults(for_authors=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", parents=[common], help="run the Host")
    serve.add_argument("--host", metavar="H", help="address to listen on (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, metavar="P", help="port to listen on (default: 5300)")
    serve.set_defaults(run=_serve)

    keys = commands.add_parser("keys", help="API keys").add_subparsers(required=True, metavar="ACTION")
    create = keys.add_parser("create", parents=[common], help="print a new key")
    create.add_argument("--name", required=True, help="what the key is for")
    create.add_argument("--scope", choices=["admin", "operator", "viewer", "chat", "platform"], default="admin")
    create.set_defaults(run=_keys_create)
    keys.add_parser("list", parents=[common], help="list the keys").set_defaults(run=_keys_list)
    revoke = keys.add_parser("revoke", parents=[common], help="revoke a key")
    revoke.add_argument("key_id")
    revoke.set_defaults(run=_keys_revoke)

    users = commands.add_parser("users", help="accounts of people").add_subparsers(required=True, metavar="ACTION")
    person = users.add_parser("create", parents=[common], help="make an account; the password is asked for")
    person.add_argument("--email", required=True)
    person.add_argument("--name", default="", help="how they are called (default: from the address)")
    person.add_argument("--role", choices=["owner", "admin", "operator", "viewer"], default="viewer")
    person.set_defaults(run=_users_create)

    plugin_parser.add(commands, common)
    runtime_parser.add(commands, common)

    for name, sentence in (("backup", "write everything into one file"), ("restore", "bring a backup back")):
        command = commands.add_parser(name, parents=[common], help=sentence)
        command.add_argument("file", type=Path, metavar="FILE")
        command.set_defaults(run=_operation, operation=name)
        if name == "backup":
            told = "leave out the prompts and answers of models"
            command.add_argument("--without-model-calls", action="store_true", help=told)
    database = commands.add_parser("db", help="the database's schema").add_subparsers(required=True, metavar="ACTION")
    for name, sentence in (("upgrade", "bring it to this release"), ("current", "say which revision it has")):
        database.add_parser(name, parents=[common], help=sentence).set_defaults(run=_operation, operation=f"db_{name}")

    doctor = commands.add_parser("doctor", parents=[common], help="say what is wrong and what to do")
    doctor.add_argument("--host", metavar="H", help="the address it would listen on")
    doctor.add_argument("--port", type=int, metavar="P", help="the port it would listen on")
    doctor.set_defaults(run=_doctor)

    why = commands.add_parser("why", parents=[common], help="say why an event was answered so, late, twice or not")
    why.add_argument("name", metavar="ID", help="of an event, a run or a platform's message")
    why.set_defaults(run=_why)
    return parser


def _serve(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from parlour.app.host import HostExtensions

    from . import serve

    serve.run(settings, HostExtensions())


def _keys_create(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import keys

    keys.create(settings, arguments.name, arguments.scope)


def _keys_list(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import keys

    keys.list_keys(settings)


def _keys_revoke(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import keys

    keys.revoke(settings, arguments.key_id)


def _users_create(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import users

    users.create(settings, arguments.email, arguments.name, arguments.role)


def _operation(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import operations

    given = {name: getattr(arguments, name) for name in ("file", "without_model_calls") if name in arguments}
    getattr(operations, arguments.operation)(settings, **given)


def _doctor(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import doctor

    doctor.run(settings)


def _why(arguments: argparse.Namespace, settings: "HostSettings") -> None:
    from . import why

    why.print_explanations(settings, arguments.name)


if __name__ == "__main__":
    # Commands raise `CommandError` of the imported module, which `__main__` would not catch.
    from parlour.cli.main import main as imported_main

    imported_main()

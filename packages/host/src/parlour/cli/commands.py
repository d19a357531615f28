"""Lists every command of `parlour` with its arguments and the function that runs it.

The function is named as text and imported when its command is run. It gets the settings, and each argument under the
argument's name, except those that only override a setting.
"""

import argparse
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple


class CliArgument:
    """An argument of a command; all keywords but `setting` are those of `ArgumentParser.add_argument`."""

    def __init__(self, *flags: str, setting: str = "", **options: Any) -> None:
        """`setting`: the setting that the argument overrides, such as http.port."""
        self.flags = flags
        self.setting = setting
        self.options = options

    @property
    def name(self) -> str:
        """Returns the argument's name in the parsed arguments."""
        return str(self.options.get("dest") or self.flags[-1].lstrip("-").replace("-", "_"))


class CliCommand(NamedTuple):
    """A command, with the words after `parlour` that call it."""

    words: str
    help: str
    function: str
    """Module below `parlour.cli`, colon, name of the function."""
    arguments: tuple[CliArgument, ...] = ()
    options: Literal["common", "after_group", "author"] = "common"
    """`common`: --data and --config. `after_group`: they may also stand before the last words of the command.
    `author`: a command for plugin authors, which needs no data directory."""


DEFAULT_COMMAND: Final = "start"
"""The command that is run if the command line names none."""
GROUPS: Final = {
    "keys": "API keys",
    "users": "accounts of people",
    "plugin": "plugins",
    "runtime token": "the tokens by which Hosts may use it",
    "db": "the database's schema",
    "secrets": "the key of the stored secrets",
    "platform": "chat platforms",
}
"""Help of the words that only introduce commands."""

_ADDRESS = (
    CliArgument("--host", setting="http.host", metavar="H", help="address to listen on (default: 127.0.0.1)"),
    CliArgument("--port", setting="http.port", type=int, metavar="P", help="port to listen on (default: 5300)"),
)
_PLUGIN_PATH = CliArgument("path", type=Path, metavar="PATH", help="the plugin's folder, or its one .py file")
_FILE = CliArgument("file", type=Path, metavar="FILE")

COMMANDS: Final = (
    CliCommand(DEFAULT_COMMAND, "run the Host and open its page; what parlour alone does", "serve:start", _ADDRESS),
    CliCommand("serve", "run the Host", "serve:run", _ADDRESS),
    CliCommand(
        "drain",
        "let a Host of a cluster give its work to the others",
        "drain:drain",
        (
            CliArgument("--host", default="", metavar="NAME", help="name or id of the Host (default: the one here)"),
            CliArgument("--undo", action="store_true", help="let it take work again"),
            CliArgument("--seconds", type=float, default=60.0, metavar="S", help="how long to wait (default: 60)"),
        ),
    ),
    CliCommand(
        "keys create",
        "print a new key",
        "keys:create",
        (
            CliArgument("--name", required=True, help="what the key is for"),
            CliArgument(
                "--scope",
                choices=["admin", "operator", "viewer", "chat", "platform", "mcp", "worker"],
                default="admin",
            ),
            CliArgument(
                "--label",
                action="append",
                default=[],
                dest="labels",
                metavar="LABEL",
                help="a label that a worker with this key may have; repeat it for more",
            ),
            CliArgument(
                "--runner",
                action="append",
                default=[],
                dest="runners",
                metavar="RUNNER",
                help="a runner that a worker with this key may execute (default: any)",
            ),
        ),
    ),
    CliCommand("keys list", "list the keys", "keys:list_keys"),
    CliCommand("keys revoke", "revoke a key", "keys:revoke", (CliArgument("key_id"),)),
    CliCommand(
        "users create",
        "make an account; the password is asked for",
        "users:create",
        (
            CliArgument("--email", required=True),
            CliArgument("--name", default="", help="how they are called (default: from the address)"),
            CliArgument("--role", choices=["owner", "admin", "operator", "viewer"], default="viewer"),
        ),
    ),
    CliCommand(
        "plugin install",
        "install or upgrade a plugin",
        "plugins:install",
        (
            CliArgument(
                "source", metavar="SOURCE", help="a folder, .py file, zip or git+URL[@REVISION][#subdirectory=F]"
            ),
            CliArgument(
                "--grant",
                metavar="WHAT",
                help="the permissions it gets: all, none, or a list such as models,network:api.example.org "
                "(default: all; for an upgrade: those it has)",
            ),
            CliArgument("--upgrade", metavar="AUTHOR/NAME", help="refuse anything but a new version of this plugin"),
        ),
    ),
    CliCommand("plugin list", "list the plugins, how they are and what they may do", "plugins:list_plugins"),
    CliCommand(
        "plugin remove",
        "remove a plugin; its agents stay",
        "plugins:remove",
        (
            CliArgument("plugin_id", metavar="AUTHOR/NAME"),
            CliArgument("--delete-data", action="store_true", help="delete what the plugin has stored, too"),
        ),
    ),
    CliCommand(
        "plugin new",
        "begin a plugin: an agent that works, with tests that pass",
        "plugin_commands.new:run",
        (
            CliArgument("identity", metavar="AUTHOR/NAME"),
            CliArgument("--one-file", action="store_true", help="one Python file instead of a folder"),
            CliArgument(
                "--kind",
                choices=("agent", "http-agent"),
                default="agent",
                help="agent: answers by itself; http-agent: connects an agent service (default: agent)",
            ),
            CliArgument("--into", type=Path, default=Path(), metavar="DIR", help="(default: the current folder)"),
        ),
        "author",
    ),
    CliCommand(
        "plugin validate",
        "read and import a plugin, and say what is wrong with it",
        "plugin_commands.validate:run",
        (_PLUGIN_PATH,),
        "author",
    ),
    CliCommand(
        "plugin test",
        "validate a plugin, then run its tests",
        "plugin_commands.test:run",
        (_PLUGIN_PATH, CliArgument("pytest", nargs=argparse.REMAINDER, metavar="...", help="handed on to pytest")),
        "author",
    ),
    CliCommand(
        "plugin chat",
        "talk to a plugin's agent here, without a Host",
        "plugin_commands.chat:run",
        (
            _PLUGIN_PATH,
            CliArgument("--runner", metavar="NAME", help="(default: the only one, or the one named 'default')"),
            CliArgument(
                "--config", action="append", default=[], dest="pairs", metavar="NAME=VALUE", help="a field of its form"
            ),
            CliArgument(
                "--model",
                default="echo",
                metavar="WHAT",
                help="how models answer: 'echo' (the default), or a file with one answer a line",
            ),
        ),
        "author",
    ),
    CliCommand(
        "plugin run",
        "keep a plugin's newest state in a running Host",
        "plugin_commands.run:run",
        (
            _PLUGIN_PATH,
            CliArgument(
                "--grant",
                default="all",
                metavar="WHAT",
                help="the permissions it gets: all (the default), none, or a list such as "
                "models,network:api.example.org",
            ),
            CliArgument("--remove", action="store_true", help="remove it from the Host at the end"),
        ),
    ),
    CliCommand(
        "plugin build",
        "make a zip of a plugin, to be installed elsewhere",
        "plugin_commands.build:run",
        (
            _PLUGIN_PATH,
            CliArgument(
                "-o", "--output", type=Path, metavar="FILE", help="(default: AUTHOR-NAME-VERSION.zip beside it)"
            ),
        ),
        "author",
    ),
    CliCommand(
        "platform probe",
        "try a bot on its real platform, and record what was shown",
        "platform_commands.probe:run",
        (
            CliArgument("bot", metavar="BOT", help="its id or name; it must be disabled, or no Host may run"),
            CliArgument("--record", type=Path, metavar="FILE", help="(default: PLATFORM.json here)"),
            CliArgument(
                "--target",
                action="append",
                default=[],
                metavar="NAME=TARGET",
                help="make a call that changes something for others, on this target, such as kick_member=ID; of an "
                "action, its parameters as JSON",
            ),
            CliArgument(
                "--file", action="append", default=[], metavar="KIND=PATH", help="a file to send, such as Voice=a.ogg"
            ),
        ),
    ),
    CliCommand(
        "runtime",
        "run plugins without a Host, for a Host elsewhere",
        "runtime:run",
        (
            CliArgument(
                "--listen",
                setting="runtime.listen",
                metavar="HOST:PORT",
                help="address to listen on for Hosts (default: 127.0.0.1:5310); a Host uses it with the setting "
                "runtime.url",
            ),
        ),
    ),
    CliCommand(
        "box",
        "run sandboxes for a Host elsewhere",
        "box:run",
        (
            CliArgument(
                "--listen",
                setting="box.listen",
                metavar="HOST:PORT",
                help="address to listen on for a Host (default: 127.0.0.1:5410); the Host uses it with the setting "
                "box.endpoint",
            ),
        ),
    ),
    CliCommand(
        "worker",
        "execute queued runs of a Host elsewhere, with plugins of this machine",
        "worker:run",
        (
            CliArgument("--host", dest="worker_url", setting="worker.url", metavar="URL", help="address of the Host"),
            CliArgument(
                "--token",
                dest="worker_token",
                setting="worker.token",
                metavar="KEY",
                help="an API key with the scope worker; other users of this machine can read it here, so prefer "
                "the setting worker.token_file",
            ),
            CliArgument(
                "--label",
                action="append",
                dest="worker_labels",
                setting="worker.labels",
                metavar="LABEL",
                help="a label that runs may ask for; repeat it for more (default: all that the key allows)",
            ),
            CliArgument("--name", dest="worker_name", setting="worker.name", help="(default: the machine's name)"),
            CliArgument(
                "--slots",
                dest="worker_slots",
                setting="worker.slots",
                type=int,
                help="runs at the same time (default: 4)",
            ),
        ),
    ),
    CliCommand(
        "runtime token create",
        "print a new token for one Host",
        "runtime:create_token",
        (CliArgument("--name", required=True, help="which Host it is for"),),
        "after_group",
    ),
    CliCommand("runtime token list", "list the tokens", "runtime:list_tokens", (), "after_group"),
    CliCommand(
        "runtime token revoke",
        "revoke a token; its Host is disconnected",
        "runtime:revoke_token",
        (CliArgument("token_id"),),
        "after_group",
    ),
    CliCommand(
        "backup",
        "write everything into one file",
        "operations:backup",
        (
            _FILE,
            CliArgument(
                "--without-model-calls", action="store_true", help="leave out the prompts and answers of models"
            ),
        ),
    ),
    CliCommand("restore", "bring a backup back", "operations:restore", (_FILE,)),
    CliCommand("secrets rotate", "seal all stored secrets with a new key", "secrets:rotate"),
    CliCommand(
        "db upgrade",
        "bring it to this release",
        "database:upgrade",
        (CliArgument("--without-copy", action="store_true", help="do not copy a SQLite file before it is changed"),),
    ),
    CliCommand("db current", "say which revision it has", "database:print_current"),
    CliCommand(
        "db check",
        "say what a start of this release would change; exit 1 if it would fail",
        "database:check",
        (
            CliArgument(
                "--try", dest="attempt", action="store_true", help="try the migrations on a copy of a SQLite file"
            ),
        ),
    ),
    CliCommand(
        "doctor",
        "say what is wrong and what to do",
        "doctor:run",
        (
            CliArgument("--host", setting="http.host", metavar="H", help="the address it would listen on"),
            CliArgument("--port", setting="http.port", type=int, metavar="P", help="the port it would listen on"),
        ),
    ),
    CliCommand(
        "why",
        "say why an event was answered so, late, twice or not",
        "why:print_explanations",
        (CliArgument("name", metavar="ID", help="of an event, a run or a platform's message"),),
    ),
)

"""`parlour runtime`: serves a standalone plugin runtime, and manages the tokens by which Hosts may use it."""

import asyncio
import contextlib
import os
import signal

from parlour.app.data_directory import DataDirectory, DataDirectoryInUse, DataDirectoryUnusable
from parlour.app.runtime_server import CannotListen, serve
from parlour.app.settings import HostSettings
from parlour.core.system import SystemClock
from parlour.plugin_runtime.standalone.tokens import Tokens, TokensUnreadable
from parlour.version import VERSION

from .event_loop import loop_factory
from .log import set_up_logging
from .main import CommandError


def run(settings: HostSettings) -> None:
    redactor = set_up_logging(settings)
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(serve(settings, VERSION, _announce, redactor))
    except (CannotListen, DataDirectoryInUse, DataDirectoryUnusable, TokensUnreadable) as error:
        raise CommandError(str(error)) from error


def _announce(address: str, notice: str) -> None:
    print("\n".join(filter(None, (f"The plugin runtime is at {address}", notice))), flush=True)


def create_token(settings: HostSettings, name: str) -> None:
    """Creates a token and prints only the token, so that a script can read it."""
    print(_tokens(settings).create(name, SystemClock().now()))


def list_tokens(settings: HostSettings) -> None:
    try:
        for token in _tokens(settings).all():
            print(f"{token.token_id}  {'revoked' if token.revoked_at else 'active':8} {token.name}")
    except TokensUnreadable as error:
        raise CommandError(str(error)) from error


def revoke_token(settings: HostSettings, token_id: str) -> None:
    """Revokes a token and signals a running runtime, which disconnects its Host."""
    if not _tokens(settings).revoke(token_id, SystemClock().now()):
        raise CommandError(f"no active token has the id '{token_id}'; 'parlour runtime token list' shows them")
    pid = DataDirectory(settings.data).serving_pid()
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):  # it has just exited, and its next start reads the tokens anyway
            os.kill(pid, signal.SIGHUP)


def _tokens(settings: HostSettings) -> Tokens:
    directory = DataDirectory(settings.data)
    try:
        directory.create()
    except DataDirectoryUnusable as error:
        raise CommandError(str(error)) from error
    return Tokens(directory.runtime_tokens)

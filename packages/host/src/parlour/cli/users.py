"""`parlour users`: creates accounts directly in the database, whether the Host runs or not."""

import asyncio
import getpass
import sys

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.settings import HostSettings
from parlour.core.access.keys import COMMAND_LINE_ACTOR
from parlour.core.access.users import AccountChangeRefused, Role, UserAccount, UserAccounts
from parlour.core.journal import StorageFailed
from parlour.core.system import SystemClock, SystemIds
from parlour.stores.factory import open_journal

from .main import CommandError


def create(settings: HostSettings, email: str, name: str, role: Role) -> None:
    """Creates an account. The password is read from a prompt or from standard input."""
    user = asyncio.run(_create(settings, email, name, role, _password()))
    print(f"{user.user_id}  {user.role:9} {user.email}")


async def _create(settings: HostSettings, email: str, name: str, role: Role, password: str) -> UserAccount:
    directory = DataDirectory(settings.data)
    try:
        directory.create()
        async with open_journal(settings.database.url.get_secret_value(), directory.database) as journal:
            users = UserAccounts(journal, SystemIds(), SystemClock())
            return await users.create(COMMAND_LINE_ACTOR, email, name, role, password)
    except AccountChangeRefused as refusal:
        raise CommandError(f"{refusal.field}: {refusal.message}") from refusal
    except DataDirectoryUnusable as error:
        raise CommandError(str(error)) from error
    except StorageFailed as error:
        raise CommandError(error.message) from error


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise CommandError("the two passwords differ")
    return password

"""`parlour users`: creates accounts directly in the database, whether the Host runs or not."""

import asyncio
import getpass
import sys

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.settings import Settings
from parlour.core.access.keys import COMMAND_LINE
from parlour.core.access.users import Role, User, UserRefused, Users
from parlour.core.journal import StorageFailed
from parlour.core.system import SystemClock, SystemIds
from parlour.stores.factory import opened

from .main import CommandFailed


def create(settings: Settings, email: str, name: str, role: Role) -> None:
    """Creates an account. The password is read from a prompt or from standard input."""
    user = asyncio.run(_created(settings, email, name, role, _password()))
    print(f"{user.user_id}  {user.role:9} {user.email}")


async def _created(settings: Settings, email: str, name: str, role: Role, password: str) -> User:
    directory = DataDirectory(settings.data)
    try:
        directory.make()
        async with opened(settings.database.url.get_secret_value(), directory.database) as journal:
            users = Users(journal, SystemIds(), SystemClock())
            return await users.create(COMMAND_LINE, email, name, role, password)
    except UserRefused as refusal:
        raise CommandFailed(f"{refusal.field}: {refusal.message}") from refusal
    except DataDirectoryUnusable as error:
        raise CommandFailed(str(error)) from error
    except StorageFailed as error:
        raise CommandFailed(error.message) from error


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise CommandFailed("the two passwords differ")
    return password

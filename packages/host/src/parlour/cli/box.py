"""`parlour box`: serves the Box on this machine to a Host elsewhere."""

import asyncio

from parlour.app.setting_values import LISTEN_PATTERN
from parlour.app.settings import HostSettings
from parlour.box.remote import TOKEN_FILE, BoxFolders, BoxInUse
from parlour.box.remote import run as serve

from .event_loop import loop_factory
from .log import set_up_logging
from .main import CommandError


def run(settings: HostSettings) -> None:
    set_up_logging(settings)
    match = LISTEN_PATTERN.fullmatch(settings.box.listen)
    assert match is not None, "the settings were checked"
    host, port = match["host"].strip("[]"), int(match["port"])
    folder = settings.data / "box"
    folders = BoxFolders(folder, settings.plugins.bubblewrap, tuple(settings.box.local.allowed_mount_roots))

    def announce(address: str) -> None:
        print(
            f"The Box is at {address}\nA Host uses it with box.endpoint, and the token in {folder / TOKEN_FILE}",
            flush=True,
        )

    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(serve(host, port, folders, announce))
    except BoxInUse as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        message = f"can't listen on {settings.box.listen}: {error.strerror}. Choose another address with --listen."
        raise CommandError(message) from error

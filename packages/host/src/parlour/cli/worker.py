"""`parlour worker`: executes runs of a Host on this machine."""

import asyncio

from parlour.app.data_directory import DataDirectoryInUse, DataDirectoryUnusable
from parlour.app.settings import HostSettings
from parlour.app.worker.link import HostRefused
from parlour.app.worker.process import serve
from parlour.version import VERSION

from .event_loop import loop_factory
from .log import set_up_logging
from .main import CommandError


def run(settings: HostSettings) -> None:
    redactor = set_up_logging(settings)

    def announce(name: str) -> None:
        print(f"The worker {name} executes runs of the Host at {settings.worker.url}", flush=True)

    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(serve(settings, VERSION, announce, redactor))
    except (HostRefused, DataDirectoryInUse, DataDirectoryUnusable) as error:
        raise CommandError(redactor.redact(str(error))) from error

"""Runs all checks, one after the other."""

from collections.abc import AsyncIterator

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.settings import HostSettings

from . import (
    box,
    clock,
    cluster,
    environment_checks,
    left_over_processes,
    platform_servers,
    plugin_checks,
    postgres,
    proxies,
    storage,
    upgrade_notes,
    worker,
)
from .finding import Finding, problem


async def run_checks(settings: HostSettings) -> AsyncIterator[Finding]:
    """Yields the findings of all checks. If the data directory can't be used, that is the only one."""
    try:
        DataDirectory(settings.data).create()
    except DataDirectoryUnusable as error:
        yield problem("data", error.message, "start with --data and a folder of your own")
        return
    checks = (
        upgrade_notes.check,
        storage.check,
        postgres.check,
        clock.check,
        cluster.check,
        environment_checks.check,
        box.check,
        worker.check,
        proxies.check,
        plugin_checks.check,
        platform_servers.check,
        left_over_processes.check,
    )
    for check in checks:
        async for finding in check(settings):
            yield finding

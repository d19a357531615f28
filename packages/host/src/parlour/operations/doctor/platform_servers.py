"""Checks whether the platforms of the bots can be reached, and whether their clocks agree with this one.

Each server is asked once, without credentials, by the way that the bot uses: its proxy or none.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from parlour.app.data_directory import DataDirectory
from parlour.app.secret_key import FileSecretBox
from parlour.app.settings import HostSettings
from parlour.core.config.bots import Bot, BotRepository
from parlour.core.journal import StorageFailed
from parlour.core.platforms import bot_config
from parlour.core.secrets import SecretUnreadable
from parlour.core.system import SystemClock
from parlour.platforms._kit.proxy_fields import ADDRESS_FIELD
from parlour.platforms._kit.server_probe import PlatformServer, ServerAnswer, configured_servers, probe
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.stores.factory import current_revision, open_journal
from parlour.stores.migrate import HEAD

from .finding import Finding, ok, warning

AREA = "platforms"
MAX_CLOCK_DIFFERENCE_SECONDS = 30.0
"""Seconds beyond which platforms and this Host begin to refuse each other's signatures and tokens."""
MAX_CONCURRENT_PROBES = 20


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    directory, url = DataDirectory(settings.data), settings.database.url.get_secret_value()
    try:
        if await current_revision(url, directory.database) != HEAD:
            return
        async with open_journal(url, directory.database) as journal:
            repository = BotRepository(journal, SystemClock())
            await repository.load()
    except (StorageFailed, ModuleNotFoundError):
        return  # the storage check reports it
    bots = [bot for bot in repository.all() if bot.enabled]
    catalogue, secrets = BuiltinAdapterCatalogue(settings.platforms.external), FileSecretBox(directory.secret_key)
    users: dict[tuple[PlatformServer, str], list[str]] = {}
    """Names of the bots by server and proxy."""
    configs: dict[tuple[PlatformServer, str], Mapping[str, Any]] = {}
    for bot in bots:
        manifest = catalogue.manifests().get(bot.adapter)
        config = _readable_config(bot, secrets) if not bot.secrets or directory.secret_key.exists() else None
        if manifest is None or config is None:
            continue  # the check of the bots reports it
        for server in configured_servers(manifest, config):
            key = server, str(config.get(ADDRESS_FIELD) or "")
            users.setdefault(key, []).append(f"bot '{bot.name}' on {bot.adapter}")
            configs[key] = config
    places = asyncio.Semaphore(MAX_CONCURRENT_PROBES)

    async def ask(key: tuple[PlatformServer, str]) -> ServerAnswer:
        async with places:
            return await probe(key[0], configs[key])

    answers = await asyncio.gather(*map(ask, users))
    for (key, names), answer in zip(users.items(), answers, strict=True):
        yield _finding(names, key[0], answer)


def _readable_config(bot: Bot, secrets: FileSecretBox) -> Mapping[str, Any] | None:
    """Returns a bot's configuration with its secrets; None if they can't be read."""
    try:
        return bot_config.decrypt_config(bot, secrets)
    except (SecretUnreadable, OSError):
        return None


def _finding(names: list[str], server: PlatformServer, answer: ServerAnswer) -> Finding:
    users = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    if answer.problem:
        remedy = f"check the network and a firewall, the proxy if there is one, and {server.field} in the bot's form"
        return warning(AREA, f"{users}: {server.name} can't be reached: {answer.problem}", remedy)
    ahead = answer.clock_ahead_seconds
    if ahead is not None and abs(ahead) > MAX_CLOCK_DIFFERENCE_SECONDS:
        direction = "ahead of" if ahead > 0 else "behind"
        sentence = f"{users}: the clock here is {abs(ahead):.0f} s {direction} that of {server.name}"
        remedy = (
            "synchronize the clock of this machine, with NTP for example; signatures and tokens are refused until then"
        )
        return warning(AREA, sentence, remedy)
    clock = "" if ahead is None else ", and its clock agrees with this one"
    return ok(AREA, f"{users}: {server.name} can be reached{clock}")

"""`parlour platform probe`: tries a configured bot on its real platform, without a Host, and records what was shown."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.secret_key import FileSecretBox
from parlour.app.settings import HostSettings
from parlour.core.config.bots import BOT_ROWS, Bot
from parlour.core.journal import Journal, Select, StorageFailed, where
from parlour.core.platforms.bot_config import decrypt_config
from parlour.core.platforms.hooks import HookCall, HookReceiver
from parlour.core.platforms.port import Adapter, AdapterStopped
from parlour.core.secrets import SecretUnreadable
from parlour.core.store.tables import BOT_CURSORS, BOTS
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.stores.factory import open_journal
from parlour.version import VERSION

from ..main import CommandError
from .calls import read_targets
from .console import TerminalConsole
from .link import ProbeLink
from .record import ProbeRecord
from .redaction import ProbeRedaction
from .session import MEDIA, ProbeSession, ProbeStopped

MAX_BODY_BYTES = 16 * 1024 * 1024


def run(settings: HostSettings, bot: str, record: Path | None, target: list[str], file: list[str]) -> None:
    """Probes a bot and writes the record."""
    targets, files = read_targets(target), _read_files(file)
    try:
        directory = DataDirectory(settings.data)
        directory.create()
        found, cursor = asyncio.run(_load(settings, directory, bot))
        if found.enabled and directory.serving_pid() is not None:
            raise CommandError(
                f"a Host serves the bot '{found.name}' now; disable the bot on its page, or stop the Host"
            )
        config = decrypt_config(found, FileSecretBox(directory.secret_key))
        result = asyncio.run(_probe(settings, found, config, cursor, targets, files))
    except DataDirectoryUnusable as error:
        raise CommandError(str(error)) from error
    except StorageFailed as error:
        raise CommandError(error.message) from error
    except (AdapterStopped, SecretUnreadable, ProbeStopped) as error:
        raise CommandError(str(error)) from error
    path = record or Path(f"{found.adapter}.json")
    result.write(path)
    shown = sum(map(len, result.shown.values()))
    print(f"{shown} capabilities were shown, {len(result.problems)} were not. The record is in {path}; it has no ids.")


async def _load(settings: HostSettings, directory: DataDirectory, name: str) -> tuple[Bot, str | None]:
    """Returns the bot of this id or name, and its position in the events of its platform."""
    async with open_journal(settings.database.url.get_secret_value(), directory.database) as journal:
        bots = [BOT_ROWS.decode(row) for row in await journal.read(Select(BOTS))]
        matches = [each for each in bots if name in (each.bot_id, each.name)]
        if len(matches) != 1:
            known = ", ".join(f"{each.bot_id} ({each.name})" for each in bots) or "none"
            raise CommandError(f"'{name}' names {len(matches)} bots; there are: {known}")
        return matches[0], await _cursor(journal, matches[0])


async def _cursor(journal: Journal, bot: Bot) -> str | None:
    rows = await journal.read(Select(BOT_CURSORS, where(bot_id=bot.bot_id), limit=1))
    return str(rows[0]["cursor"]) if rows else None


async def _probe(
    settings: HostSettings,
    bot: Bot,
    config: dict[str, object],
    cursor: str | None,
    targets: dict[str, str],
    files: dict[str, Path],
) -> ProbeRecord:
    catalogue = BuiltinAdapterCatalogue(settings.platforms.external)
    manifest = catalogue.manifests().get(bot.adapter)
    if manifest is None:
        raise CommandError(f"this version has no adapter '{bot.adapter}'")
    redaction = ProbeRedaction(str(config[name]) for name in bot.secrets)
    console = TerminalConsole(redaction)
    link = ProbeLink(bot.bot_id, config, settings.http.public_address, cursor, console.say)
    adapter = catalogue.create(bot.adapter, link)
    mode = str(config.get("mode") or next(iter(manifest.modes)))
    record = ProbeRecord(bot.adapter, mode, VERSION, f"{datetime.now(UTC):%Y-%m-%d}")
    session = ProbeSession(manifest, adapter, link, console, redaction, record)
    async with _hooks(settings, bot, adapter, console):
        serving = asyncio.create_task(adapter.serve())
        leading = asyncio.create_task(session.run(targets, files))
        try:
            await asyncio.wait((serving, leading), return_when=asyncio.FIRST_COMPLETED)
            await (leading if leading.done() else serving)
        finally:
            for task in (leading, serving):
                task.cancel()
            await asyncio.gather(leading, serving, return_exceptions=True)
    return record


@asynccontextmanager
async def _hooks(settings: HostSettings, bot: Bot, adapter: Adapter, console: TerminalConsole) -> AsyncIterator[None]:
    """Serves the address that the platform calls, at the address of the Host."""
    if not isinstance(adapter, HookReceiver):
        yield
        return

    async def call(request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        query = dict(reversed(list(request.query.items())))
        method = "GET" if request.method == "GET" else "POST"
        answer = await adapter.hook(HookCall(await request.read(), headers, query, method))  # type: ignore[arg-type]
        body = answer.content or answer.text.encode()
        return web.Response(body=body, status=answer.status, content_type=answer.content_type)

    app = web.Application(client_max_size=MAX_BODY_BYTES)
    for verb in ("GET", "POST"):
        app.router.add_route(verb, f"/hooks/{bot.bot_id}", call)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, settings.http.host, settings.http.port).start()
    except OSError as error:
        await runner.cleanup()
        address = f"{settings.http.host}:{settings.http.port}"
        raise CommandError(
            f"{address} can't be listened on ({error.strerror}); stop the Host for this probe"
        ) from error
    console.say(f"The platform may call http://{settings.http.host}:{settings.http.port}/hooks/{bot.bot_id}")
    try:
        yield
    finally:
        await runner.cleanup()


def _read_files(pairs: list[str]) -> dict[str, Path]:
    files = {}
    for pair in pairs:
        kind, _, name = pair.partition("=")
        if kind not in MEDIA or not Path(name).is_file():
            raise CommandError(f"--file {pair}: give the kind of a component and a file, as Voice=hello.ogg")
        files[kind] = Path(name)
    return files

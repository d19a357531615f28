"""Checks the installed plugins and the bots and, if a Host runs, their states."""

from collections.abc import AsyncIterator
from pathlib import Path

from parlour.app.data_directory import DataDirectory
from parlour.app.secret_key import FileSecretBox
from parlour.app.settings import HostSettings
from parlour.core.config.bots import Bot, BotRepository
from parlour.core.journal import StorageFailed
from parlour.core.platforms import bot_config
from parlour.core.platforms.port import ConnectionStatus
from parlour.core.secrets import SecretUnreadable
from parlour.core.system import SystemClock
from parlour.platforms._host.status_file import BotStatusFile
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.onebot11.configuration import open_to_this_machine, token_problem
from parlour.plugin_runtime.records import PluginRecord
from parlour.plugin_runtime.store import PluginStore, UnusablePlugin
from parlour.plugin_runtime.supervision.status import PluginStatus, PluginStatusFile
from parlour.stores.factory import current_revision, open_journal
from parlour.stores.migrate import HEAD

from .finding import Finding, ok, problem, warning


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    directory = DataDirectory(settings.data)
    if not settings.runtime.url:
        for finding in _plugins(directory):
            yield finding
    try:
        async for finding in _bots(settings, directory):
            yield finding
    except (StorageFailed, ModuleNotFoundError):
        return  # the storage check reports it


def _plugins(directory: DataDirectory) -> list[Finding]:
    folder = PluginStore(directory.plugins)
    serving = directory.serving_pid()
    states = PluginStatusFile(directory.plugin_status).all(serving) if serving else {}
    records = folder.records()
    logs = directory.logs / "plugins"
    findings = [_plugin(name, record, states.get(name), logs) for name, record in records.items()]
    findings += [_unusable(name, each) for name, each in folder.unusable().items()]
    return findings or [ok("plugins", "none are installed; parlour plugin install adds one")]


def _plugin(plugin_id: str, record: PluginRecord, state: PluginStatus | None, logs: Path) -> Finding:
    name = f"{plugin_id} {record.current.version}"
    if not record.enabled:
        return ok("plugins", f"{name} is disabled")
    advice = f"mend what it says, or look at what it wrote: {logs / f'{plugin_id}.log'}"
    if state is not None and state.status == "failed":
        restart = f"restart it on the page Plugins, or by POST /api/v1/plugins/{plugin_id}/restart"
        return problem("plugins", f"{name} has failed: {state.reason}", f"{advice}; once that is mended, {restart}")
    if state is not None and state.status == "waiting":
        return warning("plugins", f"{name} is started again in a moment: {state.reason}", advice)
    if record.refused is not None:
        message = f"{name} runs; {record.refused}"
        return warning("plugins", message, "install a version that starts")
    return ok("plugins", f"{name} {'is ' + state.status if state is not None else 'is installed'}")


def _unusable(plugin_id: str, unusable: UnusablePlugin) -> Finding:
    remedy = f"parlour plugin install it again, or parlour plugin remove {plugin_id}"
    return problem("plugins", f"{plugin_id} can't run: {unusable.reason}", remedy)


async def _bots(settings: HostSettings, directory: DataDirectory) -> AsyncIterator[Finding]:
    url = settings.database.url.get_secret_value()
    if await current_revision(url, directory.database) != HEAD:
        return
    async with open_journal(url, directory.database) as journal:
        repository = BotRepository(journal, SystemClock())
        await repository.load()
    bots = [bot for bot in repository.all() if bot.enabled]
    serving = directory.serving_pid()
    states = BotStatusFile(directory.bot_status).read(serving) if serving else {}
    catalogue = BuiltinAdapterCatalogue(settings.platforms.external)
    for external in _external_adapters(settings, catalogue):
        yield external
    for bot in bots:
        yield _bot(bot, catalogue, directory, states.get(bot.bot_id))
        if bot.adapter == "onebot11" and (finding := _onebot_token(bot)):
            yield finding
    for address, names in _listening_bots(bots).items():
        if len(names) > 1:
            message = f"{' and '.join(names)} listen on the same {address}"
            yield problem("platforms", message, "give each bot a port of its own")


def _external_adapters(settings: HostSettings, catalogue: BuiltinAdapterCatalogue) -> list[Finding]:
    remedy = "install the package into Parlour's own environment, or remove the name from platforms.external"
    findings = [problem("platforms", message, remedy) for message in catalogue.external_problems()]
    manifests = catalogue.manifests()
    for name in settings.platforms.external:
        if name in manifests and manifests[name].external:
            message = f"the adapter of {name} is installed separately and runs as trusted code of the Host"
            findings.append(warning("platforms", message, "make sure that you trust its author"))
    return findings


def _bot(
    bot: Bot, catalogue: BuiltinAdapterCatalogue, directory: DataDirectory, status: ConnectionStatus | None
) -> Finding:
    if bot.adapter not in catalogue.manifests():
        remedy = "update Parlour, add its adapter to platforms.external, or delete the bot"
        return problem("platforms", f"bot '{bot.name}' needs the platform {bot.adapter}, which is not here", remedy)
    try:
        if directory.secret_key.exists():  # the storage check reports a missing key
            bot_config.decrypt_config(bot, FileSecretBox(directory.secret_key))
    except SecretUnreadable as error:
        return problem("platforms", f"bot '{bot.name}': its secrets can't be read", str(error))
    return _bot_state(f"bot '{bot.name}' on {bot.adapter}", status)


def _onebot_token(bot: Bot) -> Finding | None:
    """Checks the access token of a OneBot bot that OneBot implementations connect to."""
    config = {**bot.config, **dict.fromkeys(bot.secrets, bot_config.SECRET_PLACEHOLDER)}
    if bot.config.get("mode") != "reverse" or not open_to_this_machine(config):
        return None
    remedy = "set access_token in the bot on the page Bots, and the same one in its OneBot implementation"
    if token_problem(config):
        message = f"bot '{bot.name}' has no access token and is not started, since other machines could connect to it"
        return problem("platforms", message, remedy)
    message = (
        f"bot '{bot.name}' has no access token: any program on this machine can connect as its OneBot implementation"
    )
    return warning("platforms", message, remedy)


def _bot_state(name: str, status: ConnectionStatus | None) -> Finding:
    """Returns the finding for the state of a bot. Its last error comes from the platform and says what to do."""
    if status is None:
        return ok("platforms", f"{name} is configured")
    message = f"{name} is {status.state}" if status.state != "failed" else f"{name} has failed"
    if not status.last_error:
        return ok("platforms", message)
    severity = problem if status.state == "failed" else warning
    return severity(
        "platforms", f"{message}: {status.last_error}", "do what it says; the page Bots shows whether it helped"
    )


def _listening_bots(bots: list[Bot]) -> dict[str, list[str]]:
    """Returns the names of the bots that listen themselves, by address."""
    bots_by_address: dict[str, list[str]] = {}
    for bot in bots:
        if bot.config.get("mode") == "reverse" and bot.config.get("port"):
            bots_by_address.setdefault(f"{bot.config.get('host', '')}:{bot.config['port']}", []).append(bot.name)
    return bots_by_address

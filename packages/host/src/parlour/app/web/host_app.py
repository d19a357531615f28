"""Builds the HTTP application of a Host, with the objects that all its domains share."""

import shutil
from pathlib import Path

from parlour.app.data_directory import DataDirectory
from parlour.app.host import Host
from parlour.app.settings import HostSettings
from parlour.core.access.browser_sessions import BrowserSessions
from parlour.core.access.keys import ApiKeys
from parlour.core.access.users import UserAccounts
from parlour.http import asgi
from parlour.http.allowed_hosts import AllowedHosts
from parlour.http.asgi import HttpApp
from parlour.http.events.service import EventInjector, EventResults, EventService
from parlour.http.page.static_server import PageServer
from parlour.http.principals import Authenticator
from parlour.version import VERSION

from .connection_limits import ConnectionLimiter
from .routes import DomainRouters


def build_host_app(
    settings: HostSettings,
    host: Host,
    setup_token: str = "",
    limits: ConnectionLimiter | None = None,
    page: PageServer | None = None,
) -> HttpApp:
    """Builds the HTTP application. Its domains are loaded on their first request."""
    core, journal, ids, clock = host.core, host.journal, host.ids, host.clock
    keys, users, logins = (
        ApiKeys(journal, ids, clock),
        UserAccounts(journal, ids, clock),
        BrowserSessions(journal, clock),
    )
    http = settings.http
    proxied = bool(http.public_url or http.prefix or http.trusted_proxies)
    names = AllowedHosts(http.host, http.accepted_names, http.public_url, proxied)
    authenticator = Authenticator(keys, logins, names, settings.model_calls.visible_to)
    door = EventService(
        EventInjector(core.gateway, core.agents, core.bots, core.routes, ids, clock),
        EventResults(journal, core.outcomes),
    )
    uploads = _clear_folder(DataDirectory(settings.data).folder("uploads"))
    domains = DomainRouters(
        settings, host, authenticator, keys, users, logins, names, door, uploads, setup_token, limits
    )
    return asgi.build_http_app(
        VERSION,
        authenticator,
        domains.all(),
        host.pending_start_steps,
        door,
        http.body_bytes,
        http.upload_bytes,
        page,
    )


def _clear_folder(uploads: Path) -> Path:
    """Deletes unfinished uploads that a crashed Host left behind."""
    for rest in uploads.iterdir():
        shutil.rmtree(rest, ignore_errors=True)
    return uploads

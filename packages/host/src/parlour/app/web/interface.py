"""Builds the HTTP application of a Host, with the objects that all its domains share."""

import shutil
from pathlib import Path

from parlour.app.data_directory import DataDirectory
from parlour.app.host import Host
from parlour.app.settings import Settings
from parlour.core.access.browser_sessions import Logins
from parlour.core.access.keys import ApiKeys
from parlour.core.access.users import Users
from parlour.http import asgi
from parlour.http.allowed_hosts import HostNames
from parlour.http.asgi import Interface
from parlour.http.events.service import EventDoor, EventInjection, Results
from parlour.http.principals import Authenticator
from parlour.version import VERSION

from .connection_limits import ConnectionLimits
from .routes import Domains


def interface(
    settings: Settings, host: Host, setup_token: str = "", limits: ConnectionLimits | None = None
) -> Interface:
    """Builds the HTTP application. Its domains are loaded on their first request."""
    core, journal, ids, clock = host.core, host.journal, host.ids, host.clock
    keys, users, logins = ApiKeys(journal, ids, clock), Users(journal, ids, clock), Logins(journal, clock)
    http = settings.http
    proxied = bool(http.public_url or http.prefix or http.trusted_proxies)
    names = HostNames(http.host, http.accepted_names, http.public_url, proxied)
    authenticator = Authenticator(keys, logins, names, settings.model_calls.visible_to)
    door = EventDoor(
        EventInjection(core.gateway, core.agents, core.bots, core.routes, ids, clock), Results(journal, core.outcomes)
    )
    uploads = _emptied(DataDirectory(settings.data).folder("uploads"))
    domains = Domains(settings, host, authenticator, keys, users, logins, names, door, uploads, setup_token, limits)
    return asgi.build(
        VERSION,
        authenticator,
        domains.all(),
        host.missing,
        door,
        http.body_bytes,
        http.upload_bytes,
    )


def _emptied(uploads: Path) -> Path:
    """Deletes unfinished uploads that a crashed Host left behind."""
    for rest in uploads.iterdir():
        shutil.rmtree(rest, ignore_errors=True)
    return uploads

"""The interface of a Host: what answers before the framework is loaded, and what all domains share."""

import shutil
from pathlib import Path

from parlour.config import Settings
from parlour.core.access.keys import ApiKeys
from parlour.core.access.logins import Logins
from parlour.core.access.users import Users
from parlour.data_directory import DataDirectory
from parlour.host import Host
from parlour.http import application
from parlour.http.application import Interface
from parlour.http.events.door import EventDoor, EventInjection, Results
from parlour.http.hosts import HostNames
from parlour.http.principals import Authenticator
from parlour.version import VERSION

from .connection_limits import ConnectionLimits
from .domains import Domains


def interface(
    settings: Settings, host: Host, setup_token: str = "", limits: ConnectionLimits | None = None
) -> Interface:
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
    return application.build(
        VERSION,
        authenticator,
        domains.all(),
        host.missing,
        door,
        http.body_bytes,
        http.upload_bytes,
    )


def _emptied(uploads: Path) -> Path:
    """What a Host that died was receiving is nobody's."""
    for rest in uploads.iterdir():
        shutil.rmtree(rest, ignore_errors=True)
    return uploads

"""Builds the HTTP application of a Host, with the objects that its front controller and its routes share."""

import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlour import http as http_package
from parlour.app.data_directory import DataDirectory
from parlour.app.host import Host
from parlour.app.process_tuning import loading_in_background
from parlour.app.settings import HostSettings
from parlour.core.access.browser_sessions import BrowserSessions
from parlour.core.access.keys import ApiKeys
from parlour.core.access.users import UserAccounts
from parlour.http.allowed_hosts import AllowedHosts
from parlour.http.body_limit import AsgiApp
from parlour.http.errors import ErrorResponses
from parlour.http.events.fast_path import EventFastPath
from parlour.http.events.service import EventInjector, EventResults, EventService
from parlour.http.front_controller import FrontController
from parlour.http.lazy_app import LazyApp, deferred_model_build
from parlour.http.page.static_server import PageServer
from parlour.http.principals import Authenticator
from parlour.version import VERSION
from parlour_sdk.values import dataclass

from .connection_limits import ConnectionLimiter
from .doors import build_doors

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

HTTP_FOLDER = Path(http_package.__path__[0])
"""Folder with a package for each domain of the HTTP interface."""


@dataclass(frozen=True, slots=True)
class HttpApp:
    """The HTTP application, and its document."""

    serve: AsgiApp
    build_document: Callable[[], dict[str, Any]]
    """Builds the OpenAPI document from the routes. This is slow; a running Host serves the file that is part of the
    release."""


def build_host_app(
    settings: HostSettings,
    host: Host,
    setup_token: str = "",
    limits: ConnectionLimiter | None = None,
    page: PageServer | None = None,
) -> HttpApp:
    """Builds the HTTP application. FastAPI and the routes are loaded with the first request that needs them."""
    core, journal, ids, clock, http = host.core, host.journal, host.ids, host.clock, settings.http
    keys, users = ApiKeys(journal, ids, clock), UserAccounts(journal, ids, clock)
    logins = BrowserSessions(journal, clock)
    proxied = bool(http.public_url or http.prefix or http.trusted_proxies)
    names = AllowedHosts(http.host, http.accepted_names, http.public_url, proxied)
    authenticator = Authenticator(keys, logins, names, settings.model_calls.visible_to)
    injector = EventInjector(core.gateway, core.agents, core.bots, core.routes, ids, clock)
    events = EventService(injector, EventResults(journal, core.outcomes))
    responses = ErrorResponses(host.redactor)
    uploads = _clear_folder(DataDirectory(settings.data).folder("uploads"))

    def load(pause: Callable[[], None]) -> "tuple[FastAPI, list[APIRouter]]":
        """Loads FastAPI and all routes in steps, with a pause after each."""
        with deferred_model_build():
            from parlour.http.fastapi_app import create_app
        pause()
        for file in sorted(HTTP_FOLDER.glob("*/endpoints.py")):
            import_module(f"parlour.http.{file.parent.name}.endpoints")
            pause()
        from .routes import RouterBuilder

        builder = RouterBuilder(
            settings, host, authenticator, keys, users, logins, names, events, uploads, setup_token, limits
        )
        routers: list[APIRouter] = []
        for group in builder.groups():
            routers += group
            pause()
        return create_app(VERSION, authenticator, responses, http.body_bytes, http.upload_bytes, routers), routers

    def build_document() -> dict[str, Any]:
        from parlour.http import openapi_builder

        return openapi_builder.build_document(*load(lambda: None))

    def load_in_background() -> "FastAPI":
        with loading_in_background() as pause:
            return load(pause)[0]

    fast_path = EventFastPath(events, authenticator, responses, http.body_bytes)
    doors = build_doors(settings, host, authenticator, responses)
    front = FrontController(page, host.pending_start_steps, fast_path, doors, LazyApp(load_in_background))
    return HttpApp(front, build_document)


def _clear_folder(uploads: Path) -> Path:
    """Deletes unfinished uploads that a crashed Host left behind."""
    for leftover in uploads.iterdir():
        shutil.rmtree(leftover, ignore_errors=True)
    return uploads

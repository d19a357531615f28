"""Builds the ASGI application: fast paths in front of FastAPI, and FastAPI itself, which is loaded when it is first
needed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from parlour_sdk.values import dataclass

from .deferred_models import models_unbuilt
from .domain import Domain
from .events.fast_path import FastLane
from .events.service import EventDoor
from .health.fast_path import HealthLane, Waiting
from .lazy_app import LoadedInPieces
from .limits import Application
from .localization import LocalizedAnswers
from .principals import Authenticator

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True, slots=True)
class Interface:
    serve: Application
    document: Callable[[], dict[str, Any]]
    """Builds the OpenAPI document from the routes. This is slow; a running Host serves the file that is part of the
    release."""


def build(
    version: str,
    authenticator: Authenticator,
    domains: Sequence[Domain],
    waiting: Waiting,
    events: EventDoor,
    body_bytes: int,
    upload_bytes: int,
) -> Interface:
    def framework() -> "FastAPI":
        with models_unbuilt():
            from .fastapi_app import application

        return application(version, authenticator, body_bytes, upload_bytes)

    def document() -> dict[str, Any]:
        app = framework()
        from .fastapi_app import document

        return document(app, domains)

    loaded = LoadedInPieces(framework, domains)
    answers = LocalizedAnswers(FastLane(loaded, events, authenticator, body_bytes))
    return Interface(HealthLane(answers, waiting), document)

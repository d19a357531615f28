"""Completes the OpenAPI document: who may do what, how one says who one is, and how errors look."""

from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from .auth import COOKIE, CSRF_HEADER

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string", "examples": ["not_found"]},
                "message": {"type": "string", "description": "A sentence that a person can act on"},
                "details": {"description": "For a validation error, `fields` with a sentence each"},
            },
        }
    },
}
SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "An API key"},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": f"A person's session; changes need `csrf_token` of GET /auth/me as the header {CSRF_HEADER}",
    },
}
FAILURE = {
    "description": "What went wrong, in words",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


def install(app: FastAPI, routers: Sequence[tuple[str, APIRouter]]) -> None:
    """`routers` are those of the application, each with its prefix."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(made(), routers)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(document: dict[str, Any], routers: Sequence[tuple[str, APIRouter]]) -> None:
    components = document.setdefault("components", {})
    components.setdefault("schemas", {})["Error"] = ERROR
    components["securitySchemes"] = SCHEMES
    for prefix, router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute):
                for method in route.methods or ():
                    operation = document["paths"][prefix + route.path_format][method.lower()]
                    _complete_operation(operation, sorted(_needs(route.dependant)))


def _complete_operation(operation: dict[str, Any], needs: list[str]) -> None:
    operation["responses"]["default"] = FAILURE
    operation["responses"].pop("422", None)
    operation["security"] = [{"key": []}, {"session": []}] if needs else []
    operation["x-needs"] = needs


def _needs(dependant: Dependant) -> Iterator[str]:
    """What a principal needs one of; nothing where anybody may ask."""
    yield from getattr(dependant.call, "needs", ())
    for inner in dependant.dependencies:
        yield from _needs(inner)

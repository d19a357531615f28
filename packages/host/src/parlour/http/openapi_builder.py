"""Completes the OpenAPI document with the required scopes, authentication, response schemas and errors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import ConfigDict, create_model
from pydantic.json_schema import models_json_schema

from .api_router import response_types
from .principals import COOKIE, CSRF_HEADER

ERROR_SCHEMA = {
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
SECURITY_SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "An API key"},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": f"A person's session; changes need `csrf_token` of GET /auth/me as the header {CSRF_HEADER}",
    },
}
ERROR_RESPONSE = {
    "description": "What went wrong, in words",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
SUCCESS_DESCRIPTION = "A good answer"
REF_TEMPLATE = "#/components/schemas/{model}"

Routers = Sequence[APIRouter]
Schema = dict[str, Any]


def build_document(app: FastAPI, routers: Routers) -> Schema:
    """Builds the document. `routers` are those of the application."""
    document = app.openapi()
    _complete(document, routers)
    return document


def _complete(document: Schema, routers: Routers) -> None:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    shapes = [each for _, _, route in _operations(routers) for each in _response_types(route).values()]
    answers, definitions = _response_schemas(shapes)
    schemas |= {**definitions, **schemas, "Error": ERROR_SCHEMA}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = SECURITY_SCHEMES
    for path, method, route in _operations(routers):
        operation = document["paths"][path][method]
        _complete_operation(operation, sorted(_required_scopes(route.dependant)))
        for status, shape in _response_types(route).items():
            content = {"application/json": {"schema": answers[id(shape)]}}
            operation["responses"][str(status)] = {"description": SUCCESS_DESCRIPTION, "content": content}


def _operations(routers: Routers) -> Iterator[tuple[str, str, APIRoute]]:
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.include_in_schema:
                for method in route.methods or ():
                    yield route.path_format, method.lower(), route


def _response_types(route: APIRoute) -> Mapping[int, Any]:
    return response_types(route.endpoint, route.status_code or 200)


def _response_schemas(shapes: Sequence[Any]) -> tuple[dict[int, Schema], dict[str, Schema]]:
    """Returns the JSON schema of each response, and the definitions they refer to.

    All responses are fields of one model, so that a type has one name wherever it is used and the docstring below a
    field of a typed dictionary becomes its description.
    """
    config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    model_fields = {f"answer_{number}": shape for number, shape in enumerate(shapes)}
    fields: dict[str, Any] = {name: (shape, ...) for name, shape in model_fields.items()}
    model = create_model("Answers", __config__=config, **fields)
    _, combined = models_json_schema([(model, "serialization")], ref_template=REF_TEMPLATE)
    definitions = {name: _without_titles(schema) for name, schema in combined["$defs"].items()}
    answers = definitions.pop("Answers")["properties"]
    return {id(shape): answers[name] for name, shape in model_fields.items()}, definitions


def _without_titles(schema: Any) -> Any:
    """Removes titles, which only repeat the names."""
    if isinstance(schema, list):
        return [_without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    untitled = {name: each for name, each in schema.items() if name != "title" or not isinstance(each, str)}
    return {name: _without_titles(each) for name, each in untitled.items()}


def _complete_operation(operation: Schema, needs: list[str]) -> None:
    operation["responses"]["default"] = ERROR_RESPONSE
    operation["responses"].pop("422", None)
    operation["security"] = [{"key": []}, {"session": []}] if needs else []
    operation["x-needs"] = needs


def _required_scopes(dependant: Dependant) -> Iterator[str]:
    """Yields the scopes of which a principal needs one; none for a public endpoint."""
    yield from getattr(dependant.call, "needs", ())
    for dependency in dependant.dependencies:
        yield from _required_scopes(dependency)

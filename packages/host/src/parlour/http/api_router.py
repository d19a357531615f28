"""Router whose endpoints declare their response as a return type, which describes it and is checked by mypy.

FastAPI would build a model of each return type, validate every response with it and drop unknown fields. Responses are
built by this package and not validated at run time, so FastAPI only learns that they are objects.
"""

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, get_args, get_origin

from fastapi import APIRouter
from typing_extensions import is_typeddict

from .responses import Json, ResponseSchema

Endpoint = Callable[..., Any]
API_PREFIX = "/api/v1"


class ApiRouter(APIRouter):
    """Router whose routes have their whole path from the beginning, so that FastAPI builds each of them once."""

    def __init__(self, prefix: str = API_PREFIX, **options: Any) -> None:
        super().__init__(prefix=prefix, generate_unique_id_function=lambda route: route.name, **options)

    def add_api_route(self, path: str, endpoint: Endpoint, **options: Any) -> None:
        if _is_typed_dictionary(endpoint.__annotations__.get("return")):
            options["response_model"] = Json
        super().add_api_route(path, endpoint, **options)


def response_types(endpoint: Endpoint, status: int) -> Mapping[int, Any]:
    """Returns the schemas of successful responses by status; empty if the endpoint declares none."""
    return_type = endpoint.__annotations__.get("return")
    if _is_typed_dictionary(return_type):
        return {status: return_type}
    schema = next((each for each in get_args(return_type) if isinstance(each, ResponseSchema)), None)
    return schema.by_status(status) if schema is not None else {}


def _is_typed_dictionary(return_type: Any) -> bool:
    """Returns whether this is a typed dictionary, a generic one with its arguments, or a union of them."""
    if is_typeddict(return_type) or is_typeddict(get_origin(return_type)):
        return True
    return isinstance(return_type, UnionType) and all(map(_is_typed_dictionary, get_args(return_type)))

"""Makes a tool of a function: the schema of its parameters comes from the signature and the docstring."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from types import SimpleNamespace
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema

from .docstring import read_docstring
from .tool import Tool, ToolContext, ToolError

CONTEXT_PARAMETER = "ctx"


class UnsupportedSignature(Exception):
    """Raised when a parameter of the function can't be expressed in JSON Schema."""


class FunctionTool(Tool):
    def __init__(self, function: Callable[..., Awaitable[Any]]) -> None:
        self._function = function
        self._model = _model(function)
        self._wants_context = CONTEXT_PARAMETER in inspect.signature(function).parameters
        self.parameters = _schema(self._model)

    async def call(self, parameters: dict[str, Any], ctx: ToolContext) -> Any:
        try:
            validated = self._model.model_validate(parameters)
        except ValidationError as error:
            raise ToolError(f"the tool was not called: {_describe_errors(error)}") from error
        arguments = {name: getattr(validated, name) for name in validated.model_fields_set}
        return await self._function(**arguments, **({CONTEXT_PARAMETER: ctx} if self._wants_context else {}))


def _model(function: Callable[..., Any]) -> type[BaseModel]:
    parameters = {
        name: each for name, each in inspect.signature(function).parameters.items() if name != CONTEXT_PARAMETER
    }
    hints = _hints(function, parameters)
    fields: dict[str, Any] = {}
    _, texts = read_docstring(function.__doc__ or "", parameters)
    for name, parameter in parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UnsupportedSignature(f"'{name}' must be an ordinary parameter, named and with a type")
        if name not in hints:
            raise UnsupportedSignature(f"'{name}' needs a type, such as `{name}: str`")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], Field(default, description=texts.get(name)))
    try:
        return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    except (PydanticSchemaGenerationError, TypeError) as error:
        raise UnsupportedSignature(f"a parameter's type is none that JSON has: {str(error).splitlines()[0]}") from error


def _hints(function: Callable[..., Any], parameters: Iterable[str]) -> dict[str, Any]:
    """Resolves the types of the parameters only, because other annotations may exist just for a type checker."""
    annotations = {name: hint for name, hint in function.__annotations__.items() if name in parameters}
    names = getattr(function, "__globals__", {})
    try:
        return get_type_hints(SimpleNamespace(__annotations__=annotations), names, include_extras=True)
    except NameError as error:
        raise UnsupportedSignature(f"a parameter's type can't be found: {error}") from error


class _WithoutTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=_WithoutTitles)
    schema.pop("title", None)
    return {"type": "object", "properties": {}, **schema}


def _describe_errors(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)
    )

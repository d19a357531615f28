"""A `dataclass` decorator for slotted classes that costs a tenth of the standard library's at import time.

The standard library compiles up to six methods for every class while it is defined. Here it still collects the fields
and makes the slots, but `__init__`, `__eq__` and `__hash__` are compiled when they are first called, and the other
methods are functions that all classes share. `fields`, `replace`, `asdict`, patterns, copies and pickles work as usual.
"""

import dataclasses
from collections.abc import Callable
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

Method = Callable[..., Any]
Made = TypeVar("Made")
Field = dataclasses.Field[Any]

MISSING = dataclasses.MISSING

if TYPE_CHECKING:  # type checkers know the standard library's decorator, and this one behaves the same
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, slots: bool, frozen: bool = False, eq: bool = True, kw_only: bool = False):
        assert slots, "a class without slots is made by dataclasses.dataclass"

        def decorate(cls: type[Made]) -> type[Made]:
            cls.__doc__ = cls.__doc__ or cls.__name__  # else a signature is computed, which costs as much again
            plain_class = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=True)(cls)
            return _with_methods(plain_class, frozen, eq)

        return decorate


def _with_methods(cls: type[Made], frozen: bool, eq: bool) -> type[Made]:
    methods: dict[str, Any] = {"__init__": _frozen_init if frozen else _init}
    if eq:
        methods |= {"__eq__": _eq, "__hash__": _hash} if frozen else {"__eq__": _eq}
    methods = {name: _on_first_call(cls, name, make) for name, make in methods.items()}
    if eq and not frozen:
        methods["__hash__"] = None
    for name, method in (methods | (FROZEN if frozen else {}) | {"__repr__": _repr}).items():
        if name not in vars(cls):
            setattr(cls, name, method)
    return cls


def _on_first_call(cls: type, name: str, make: Callable[[type], Method]) -> Method:
    """Returns a stand-in for a method that compiles and installs it on the first call."""

    def compile_and_call(self: object, *args: Any, **kwargs: Any) -> Any:
        method = make(cls)
        setattr(cls, name, method)
        return method(self, *args, **kwargs)

    return compile_and_call


def _init(cls: type) -> Method:
    return _compiled_init(cls, "self.{0} = {1}", {})


def _frozen_init(cls: type) -> Method:
    """Sets slots by their own `__set__`, which takes half the time of `object.__setattr__` and ignores the freezing."""
    setters = {f"_set_{field.name}": getattr(cls, field.name).__set__ for field in _fields(cls)}
    return _compiled_init(cls, "_set_{0}(self, {1})", setters)


def _compiled_init(cls: type, assignment: str, namespace: dict[str, Any]) -> Method:
    fields = _fields(cls)
    init_fields = [field for field in fields if field.init]
    by_place = [_parameter(field) for field in init_fields if not field.kw_only]
    by_name = [_parameter(field) for field in init_fields if field.kw_only]
    lines = [assignment.format(field.name, value) for field in fields if (value := _value(field))]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    namespace |= {f"_default_{field.name}": field.default for field in fields if field.default is not MISSING}
    namespace |= {
        f"_make_{field.name}": factory for field in fields if (factory := field.default_factory) is not MISSING
    }
    parameters = by_place + (["*", *by_name] if by_name else [])
    return _compiled(cls, "__init__", parameters, lines or ["pass"], namespace)


def _parameter(field: Field) -> str:
    if field.default is not MISSING:
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is MISSING else f"{field.name}=MISSING"


def _value(field: Field) -> str:
    """Returns the expression that the field is set to; empty if `__post_init__` sets it."""
    if field.default_factory is not MISSING:
        factory_call = f"_make_{field.name}()"
        return f"{factory_call} if {field.name} is MISSING else {field.name}" if field.init else factory_call
    if field.init:
        return field.name
    return "" if field.default is MISSING else f"_default_{field.name}"


def _eq(cls: type) -> Method:
    compared = [field for field in _fields(cls) if field.compare]
    answer = f"return {_field_tuple('self', compared)} == {_field_tuple('other', compared)}"
    lines = ["if other.__class__ is self.__class__:", f" {answer}", "return NotImplemented"]
    return _compiled(cls, "__eq__", ["other"], lines, {})


def _hash(cls: type) -> Method:
    hashed = [field for field in _fields(cls) if (field.compare if field.hash is None else field.hash)]
    return _compiled(cls, "__hash__", [], [f"return hash({_field_tuple('self', hashed)})"], {})


def _field_tuple(owner: str, fields: list[Field]) -> str:
    return "(" + "".join(f"{owner}.{field.name}," for field in fields) + ")"


def _compiled(cls: type, name: str, parameters: list[str], lines: list[str], namespace: dict[str, Any]) -> Method:
    text = f"def {name}(self, {', '.join(parameters)}):\n" + "".join(f" {line}\n" for line in lines)
    space: dict[str, Any] = {"MISSING": MISSING, "__name__": cls.__module__, **namespace}
    exec(text, space)
    method: Method = space[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


@recursive_repr()
def _repr(self: Any) -> str:
    parts = (f"{field.name}={getattr(self, field.name)!r}" for field in _fields(type(self)) if field.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _raise_frozen(self: object, name: str, *value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: object) -> list[Any]:
    return [getattr(self, field.name) for field in _fields(type(self))]


def _set_state(self: object, state: list[Any]) -> None:
    for field, value in zip(_fields(type(self)), state, strict=True):
        object.__setattr__(self, field.name, value)


def _fields(cls: type[Any]) -> tuple[Field, ...]:
    return dataclasses.fields(cls)


FROZEN: dict[str, Any] = {
    "__setattr__": _raise_frozen,
    "__delattr__": _raise_frozen,
    "__getstate__": _state,
    "__setstate__": _set_state,
}

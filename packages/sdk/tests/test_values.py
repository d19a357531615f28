"""Tests that the SDK's dataclasses behave like those of the standard library."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, replace
from functools import partial
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour_sdk.values import dataclass

Decorator = Callable[..., Callable[[type], type]]
Kind = TypeVar("Kind")

SDK_DECORATOR: Decorator = dataclass
STANDARD_DECORATOR: Decorator = dataclasses.dataclass

FIELDS: dict[str, Callable[[], Any]] = {
    "default": lambda: field(default=7),
    "factory": lambda: field(default_factory=list),
    "unshown": lambda: field(default="secret", repr=False),
    "uncompared": lambda: field(default=1, compare=False),
    "unhashed": lambda: field(default=1, hash=False),
    "named": lambda: field(default=3, kw_only=True),
    "named_and_needed": lambda: field(kw_only=True),
    "not_given": lambda: field(default=5, init=False),
    "not_given_but_made": lambda: field(default_factory=tuple, init=False),
}

settings = st.fixed_dictionaries({"frozen": st.booleans(), "eq": st.booleans(), "kw_only": st.booleans()})
shapes = st.tuples(st.integers(0, 2), st.lists(st.sampled_from(sorted(FIELDS)), max_size=5))
arguments = st.lists(st.sampled_from([0, 1, "x", None, ()]), max_size=5)
names = st.sampled_from(["needed_0", "needed_1", "field_0", "field_1", "field_2", "unknown"])
named_arguments = st.dictionaries(names, st.sampled_from([0, 1, "x"]), max_size=3)


def shaped(decorator: Decorator, shape: tuple[int, list[str]], given_settings: dict[str, bool]) -> type:
    needed, rest = shape
    body: dict[str, Any] = {f"field_{place}": FIELDS[kind]() for place, kind in enumerate(rest)}
    annotations = {f"needed_{place}": object for place in range(needed)} | dict.fromkeys(body, object)
    cls = type("Thing", (), {**body, "__annotations__": annotations, "__module__": __name__})
    return decorator(slots=True, **given_settings)(cls)


def outcome(action: Callable[[], Any]) -> Any:
    """Returns the result or the error, in a form that does not depend on the decorator."""
    try:
        made = action()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)
    return repr(made) if hasattr(made, "__dataclass_fields__") else made


@given(shapes, settings, arguments, named_arguments)
def test_a_class_behaves_like_one_of_the_standard_library(
    shape: tuple[int, list[str]], chosen: dict[str, bool], places: list[Any], named: dict[str, Any]
) -> None:
    results = []
    for decorator in (SDK_DECORATOR, STANDARD_DECORATOR):
        cls: Any = shaped(decorator, shape, chosen)
        behaviour: list[Any] = [outcome(partial(cls, *places, **named)), cls.__match_args__, cls.__slots__]
        behaviour.append([(each.name, each.init, each.repr, each.compare, each.kw_only) for each in fields(cls)])
        if isinstance(behaviour[0], str):
            behaviour += behaviour_of_instances(cls, places, named)
        results.append(behaviour)
    assert results[0] == results[1]


def behaviour_of_instances(cls: Any, places: list[Any], named: dict[str, Any]) -> list[Any]:
    one, same = cls(*places, **named), cls(*places, **named)
    behaviour = [one == same, one != same, one == "something else", asdict(one), astuple(one), repr(copy.deepcopy(one))]
    behaviour.append(outcome(lambda: hash(one) == hash(same)))
    for name in (each.name for each in fields(cls)):
        behaviour.append(outcome(partial(replace, one, **{name: 99})))
        behaviour += [outcome(partial(setattr, same, name, 98)), one == same, outcome(partial(delattr, same, name))]
        same = cls(*places, **named)
    return behaviour


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Named(Point, Generic[Kind]):
    name: str = ""
    tags: list[Kind] = field(default_factory=list, compare=False)


@dataclass(slots=True)
class Checked:
    """Has a docstring of its own."""

    low: int
    high: int
    span: int = field(init=False)

    def __post_init__(self) -> None:
        self.span = self.high - self.low

    def __repr__(self) -> str:
        return f"{self.low}..{self.high}"


def test_a_frozen_value_can_not_be_changed() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.unknown = 2  # type: ignore[attr-defined]
    assert point == Point(1, 0)


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_a_subclass_has_the_fields_of_both_classes() -> None:
    named = Named(1, name="corner", tags=["a"])
    assert (named.x, named.y, named.name, named.tags) == (1, 0, "corner", ["a"])
    assert named == replace(named, tags=[])
    assert named != Point(1)
    assert repr(named) == "Named(x=1, y=0, name='corner', tags=['a'])"
    assert Named(1).tags is not Named(1).tags


def test_methods_that_a_class_defines_are_kept() -> None:
    checked = Checked(2, 5)
    assert checked.span == 3
    assert repr(checked) == "2..5"
    assert Checked.__doc__ == "Has a docstring of its own."
    with pytest.raises(TypeError, match="unhashable"):
        hash(checked)


def test_values_are_copied_pickled_and_matched() -> None:
    named = Named(4, 5, "end", [1])
    assert pickle.loads(pickle.dumps(named)) == named
    assert copy.copy(named).tags is named.tags
    assert copy.deepcopy(named).tags is not named.tags
    match named:
        case Named(x, y, name):
            assert (x, y, name) == (4, 5, "end")
        case _:
            pytest.fail("does not match its own class")


def test_a_value_that_contains_itself_has_a_repr() -> None:
    named: Named[Any] = Named(1)
    named.tags.append(named)
    assert repr(named) == "Named(x=1, y=0, name='', tags=[...])"


def test_many_threads_may_create_the_first_instance_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda place: shaped(SDK_DECORATOR, (1, []), {"frozen": True})(place), range(50)))
        cls: Any = shaped(SDK_DECORATOR, (1, ["factory"]), {"frozen": True})
        same = list(threads.map(cls, range(200)))
    assert [value.needed_0 for value in made] == list(range(50))
    assert [value.needed_0 for value in same] == list(range(200))


def test_a_class_without_slots_is_refused_with_the_standard_decorator() -> None:
    with pytest.raises(AssertionError, match=r"dataclasses\.dataclass"):
        dataclass(slots=False)

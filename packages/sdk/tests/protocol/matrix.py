"""Generates valid and invalid data of every entity from the contract and the golden files."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from .contract import CONTRACT, UNIONS, Entity, Field, Kind, default_of
from .entities import golden

REFUSED = object()
SURPRISE = "surprise"
FULL_DEPTH = 2
"""The depth down to which every field gets all its cases. Deeper entities get all their cases on their own, so here
only their type is checked."""
SAMPLES: dict[str, list[Any]] = {
    "text": ["", "5", "true", "é世界"],
    "integer": [5, 0, -1],
    "number": [1.5, 5.0],
    "flag": [True, False],
    "list": [[], [1]],
    "object": [{}, {"a": [1, None]}],
}
TAKES = {
    "text": {"text"},
    "integer": {"integer"},
    "number": {"integer", "number"},
    "flag": {"flag"},
    "object": {"object"},
    "any": set(SAMPLES),
    "list": {"list"},
    "map": {"object"},
    "choice": {"text"},
    "like": {"text"},
    "entity": {"object"},
    "union": {"object"},
    "text or list": {"text", "list"},
}
SIMPLEST: dict[str, Any] = {"text": "a", "integer": 1, "number": 1.5, "flag": True, "object": {"a": 1}, "any": {"a": 1}}


@dataclass(frozen=True, slots=True)
class Case:
    """Has data and the expected result: the dumped entity, or a refusal that names the place."""

    says: str
    data: Any
    expected: Any
    place: tuple[str | int, ...] = ()

    def inside(self, key: str | int) -> "Case":
        return replace(self, says=f"{key}.{self.says}", place=(key, *self.place))


def cases(name: str) -> Iterator[Case]:
    """Yields the cases of one entity on its own."""
    yield from _of_entity(CONTRACT[name], golden(name), (name,))


def _of_entity(entity: Entity, whole: dict[str, Any], path: tuple[str, ...], skip: str = "") -> Iterator[Case]:
    yield Case("whole", whole, whole)
    yield from _unknown(entity, whole)
    yield from _one_of(entity, whole)
    for name, field in entity.fields.items():
        if name == skip:
            continue
        alone = {**whole, **dict.fromkeys(entity.one_of)} if name in entity.one_of else whole
        given = whole[name] if whole[name] is not None else example(field.kind)
        if name not in entity.one_of:
            yield from _absent(name, field, whole)
        if len(path) > FULL_DEPTH and field.kind.name not in ("entity", "list", "map"):
            continue
        for case in _of_kind(field.kind, given, path):
            expected = REFUSED if case.expected is REFUSED else {**alone, name: case.expected}
            yield replace(case.inside(name), data={**alone, name: case.data}, expected=expected)


def _unknown(entity: Entity, whole: dict[str, Any]) -> Iterator[Case]:
    for value in (1, None, {"deep": [True]}):
        data = {**whole, SURPRISE: value}
        expected = {"strict": REFUSED, "telemetry": data}.get(entity.temperament, whole)
        yield Case(f"an unknown field with {value!r}", data, expected, (SURPRISE,))


def _one_of(entity: Entity, whole: dict[str, Any]) -> Iterator[Case]:
    for size in range(len(entity.one_of) + 1) if entity.one_of else ():
        for chosen in combinations(entity.one_of, size):
            given = dict.fromkeys(entity.one_of) | {name: example(entity.fields[name].kind) for name in chosen}
            data = {**whole, **given}
            yield Case(f"given {chosen} of {entity.one_of}", data, data if size == 1 else REFUSED)


def _absent(name: str, field: Field, whole: dict[str, Any]) -> Iterator[Case]:
    without = {key: value for key, value in whole.items() if key != name}
    missing = REFUSED if field.required else {**whole, name: default_of(field)}
    yield Case(f"{name} missing", without, missing, (name,))
    null = {**whole, name: None}
    yield Case(f"{name} null", null, null if field.nullable else REFUSED, (name,))


def _of_kind(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    for sample_kind, samples in SAMPLES.items():
        if sample_kind not in TAKES[kind.name]:
            yield from (Case(f"of another type: {each!r}", each, REFUSED) for each in samples)
    yield from _RIGHT[kind.name](kind, given, path)


def _plain(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    yield Case("as it is", given, given)
    if kind.least is None and kind.most is None:
        right = [each for name in TAKES[kind.name] for each in SAMPLES[name]]
        yield from (Case(f"{each!r}", each, each) for each in right)
    if kind.name == "any":
        yield Case("null", None, None)
    yield from _bounded(kind, lambda size: "é" * size if kind.name == "text" else size)


def _bounded(kind: Kind, made: Any) -> Iterator[Case]:
    step = 0.5 if kind.name == "number" else 1
    if kind.least is not None:
        yield Case("the least", made(kind.least), made(kind.least))
        yield Case("below the least", made(kind.least - step), REFUSED)
    if kind.most is not None:
        yield Case("the most", made(kind.most), made(kind.most))
        yield Case("above the most", made(kind.most + step), REFUSED)


def _choice(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    yield from (Case(f"{each}", each, each) for each in kind.names)
    outside = ("", SURPRISE, kind.names[0].swapcase(), f"{kind.names[0]} ")
    yield from (Case(f"outside the set: {each!r}", each, REFUSED) for each in outside)


def _like(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    example = kind.names[0]
    yield from (Case("alike", each, each) for each in (given, example, f"{example}.more"))
    unlike = ("", "message.received", example.rpartition(".")[0], f"x{example}", f"{example} ", f"{example}\n")
    yield from (Case(f"unlike {each!r}", each, REFUSED) for each in unlike)


def _list(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    assert kind.of is not None
    yield Case("as it is", given, given)
    item = given[0]
    for case in _items(kind.of, item, path):
        expected = REFUSED if case.expected is REFUSED else [case.expected]
        yield replace(case.inside(0), data=[case.data], expected=expected)
    if kind.least is None:
        yield Case("empty", [], [])
    yield from _bounded(kind, lambda size: [item] * size)


def _items(kind: Kind, item: Any, path: tuple[str, ...]) -> Iterator[Case]:
    if kind.name != "any":
        yield Case("null", None, REFUSED)
    yield from _of_kind(kind, item, path)


def _map(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    assert kind.of is not None
    yield Case("as it is", given, given)
    yield Case("empty", {}, {})
    (key, value) = next(iter(given.items()))
    for case in _items(kind.of, value, path):
        expected = REFUSED if case.expected is REFUSED else {key: case.expected}
        yield replace(case.inside(key), data={key: case.data}, expected=expected)


def _entity(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    name = kind.names[0]
    if name not in path:
        yield from _of_entity(CONTRACT[name], given, (*path, name))


def _union(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    for wrong in ({}, {"type": None}, {"type": 5}, {"type": SURPRISE}, {"type": ["text"]}):
        yield Case(f"of no known type: {wrong}", {**{k: v for k, v in given.items() if k != "type"}, **wrong}, REFUSED)
    for tag, name in UNIONS[kind.names[0]].items():
        if name not in path:
            member = {**golden(name), "type": tag}
            yield from (case.inside(tag) for case in _of_entity(CONTRACT[name], member, (*path, name), skip="type"))


def _text_or_list(kind: Kind, given: Any, path: tuple[str, ...]) -> Iterator[Case]:
    assert kind.of is not None
    yield from (Case(f"text {each!r}", each, each) for each in SAMPLES["text"])
    yield from _list(kind, [example(kind.of)], path)


_RIGHT = {
    **dict.fromkeys(SIMPLEST, _plain),
    "choice": _choice,
    "like": _like,
    "list": _list,
    "map": _map,
    "entity": _entity,
    "union": _union,
    "text or list": _text_or_list,
}


def example(kind: Kind) -> Any:
    """Returns a valid value for a field that is null in the golden file."""
    match kind.name:
        case "choice" | "like":
            return kind.names[0]
        case "list":
            return [example(kind.of)]  # type: ignore[arg-type]
        case "map":
            return {"a": example(kind.of)}  # type: ignore[arg-type]
        case "entity":
            return golden(kind.names[0])
        case "union":
            return golden(next(iter(UNIONS[kind.names[0]].values())))
        case "text or list":
            return "a"
        case name:
            return SIMPLEST[name]

"""Validates data with the keywords of JSON Schema that the protocol uses. An unknown keyword is an error."""

import re
from typing import Any

Schema = dict[str, Any]
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
ANNOTATIONS = {"description", "default"}
CONCERNS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("minimum", "maximum"), (int, float)),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), str),
    **dict.fromkeys(("minItems", "maxItems", "items"), list),
    **dict.fromkeys(("properties", "required", "additionalProperties"), dict),
}
"""Keywords that do not constrain values of other types."""


class Checker:
    def __init__(self, definitions: dict[str, Schema]) -> None:
        self._definitions = definitions

    def accepts(self, entity: str, value: Any) -> bool:
        return self._fits(self._definitions[entity], value)

    def _fits(self, schema: Any, value: Any) -> bool:
        if isinstance(schema, bool):
            return schema
        return all(self._holds(word, schema, value) for word in schema if word not in ANNOTATIONS)

    def _holds(self, word: str, schema: Schema, value: Any) -> bool:
        said = schema[word]
        if not isinstance(value, CONCERNS.get(word, object)):
            return True
        match word:
            case "$ref":
                return self.accepts(said.removeprefix("#/$defs/"), value)
            case "type":
                return isinstance(value, TYPES[said]) and (said == "boolean" or not isinstance(value, bool))
            case "const":
                return bool(value == said)
            case "enum":
                return value in said
            case "anyOf":
                return any(self._fits(each, value) for each in said)
            case "oneOf":
                return sum(self._fits(each, value) for each in said) == 1
            case "minimum":
                return bool(value >= said)
            case "maximum":
                return bool(value <= said)
            case "minLength" | "minItems":
                return len(value) >= said
            case "maxLength" | "maxItems":
                return len(value) <= said
            case "pattern":
                return re.search(said.removesuffix("$") + r"\Z", value) is not None
            case "items":
                return all(self._fits(said, each) for each in value)
            case "properties":
                return all(self._fits(each, value[name]) for name, each in said.items() if name in value)
            case "required":
                return all(name in value for name in said)
            case "additionalProperties":
                known = schema.get("properties", {})
                return all(self._fits(said, each) for name, each in value.items() if name not in known)
        raise ValueError(f"the schema says {word}, which this reader does not know")

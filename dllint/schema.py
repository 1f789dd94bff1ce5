"""The documentation of the configuration keys: for people, and for editors as a JSON schema."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from dllint.keys import Options


class Key(msgspec.Struct, frozen=True):
    """A key in words."""

    name: str
    description: str
    type: str
    default: str
    example: str


def keys() -> dict[str, Key]:
    """All keys, in their order."""
    found = {}
    described = msgspec.inspect.type_info(Options)
    assert isinstance(described, msgspec.inspect.StructType)
    for field in described.fields:
        kind = field.type
        assert isinstance(kind, msgspec.inspect.Metadata)
        said, extra = kind.extra_json_schema or {}, kind.extra or {}
        name = field.encode_name
        found[name] = Key(name, said["description"], _type(kind.type), extra["default"], extra["example"])
    return found


def _type(kind: msgspec.inspect.Type) -> str:
    match kind:
        case msgspec.inspect.UnionType(types=types):
            return " or ".join(_type(one) for one in types if not isinstance(one, msgspec.inspect.NoneType))
        case msgspec.inspect.VarTupleType(item_type=item):
            return f"list of {_type(item)}s" if isinstance(item, msgspec.inspect.StrType) else f"list of {_type(item)}"
        case msgspec.inspect.DictType(value_type=value):
            return f"table: pattern to {_type(value)}"
        case msgspec.inspect.LiteralType(values=values):
            return " | ".join(f'"{value}"' for value in values)
        case msgspec.inspect.BoolType():
            return "true or false"
    return "string"


def schema(name: str = "") -> dict[str, Any]:
    """The JSON schema of `dllint.toml` and of `[tool.dllint]`; `name` is what validate-pyproject calls the table."""
    table = msgspec.json.schema(Options)["$defs"]["Options"]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:dllint:configuration",
        "title": "dllint",
        "description": "Configuration of dllint: the table tool.dllint of pyproject.toml, or dllint.toml as a whole.",
        "type": "object",
        "additionalProperties": False,
        "properties": {key: _property(key, value) for key, value in table["properties"].items()},
    }


def text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=2) + "\n"


def _property(key: str, value: dict[str, Any]) -> dict[str, Any]:
    """A key's schema without null, which TOML does not have."""
    kinds = [kind for kind in value.get("anyOf", ()) if kind != {"type": "null"}]
    own = {name: item for name, item in value.items() if name not in ("anyOf", "default", "enum")}
    if "enum" in value:
        own["enum"] = [item for item in value["enum"] if item is not None]
    described = f"{own['description']} Default: {keys()[key].default}."
    return {**own, **(kinds[0] if kinds else {}), "description": described}

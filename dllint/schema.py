"""The documentation of the configuration keys: for people, and for editors as a JSON schema."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from dllint.keys import Options


class Key(msgspec.Struct, frozen=True):
    """A key in words. One of tables has the keys of each."""

    name: str
    description: str
    type: str
    default: str
    example: str
    keys: tuple[Key, ...] = ()


def keys(table: type[msgspec.Struct] = Options) -> dict[str, Key]:
    """All keys of a table, in their order."""
    found = {}
    for name, kind in _types(table).items():
        said, extra, inner = kind.extra_json_schema or {}, kind.extra or {}, _table(kind.type)
        own = tuple(keys(inner).values()) if inner is not None else ()
        told = _type(kind.type, extra["of"])
        found[name] = Key(name, said["description"], told, extra["default"], extra["example"], own)
    return found


def _types(table: type[msgspec.Struct]) -> dict[str, msgspec.inspect.Metadata]:
    described = msgspec.inspect.type_info(table)
    assert isinstance(described, msgspec.inspect.StructType)
    return {
        field.encode_name: field.type for field in described.fields if isinstance(field.type, msgspec.inspect.Metadata)
    }


def _type(kind: msgspec.inspect.Type, of: str = "") -> str:
    """A type in words; `of` is what the keys of a table are."""
    match kind:
        case msgspec.inspect.UnionType(types=types):
            kinds = [one for one in types if not isinstance(one, msgspec.inspect.NoneType)]
            return _type(kinds[0], of) if len(kinds) == 1 else "value"
        case msgspec.inspect.VarTupleType(item_type=item):
            return f"list of {_type(item)}" + ("" if isinstance(item, msgspec.inspect.LiteralType) else "s")
        case msgspec.inspect.DictType(value_type=value):
            return f"table: {of} to {_type(value)}"
        case msgspec.inspect.LiteralType(values=values):
            return " | ".join(f'"{value}"' for value in values)
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.StructType():
            return "table"
    return "string"


def _table(kind: msgspec.inspect.Type) -> type[msgspec.Struct] | None:
    """What reads the tables that a key is made of; None for other keys."""
    match kind:
        case msgspec.inspect.UnionType(types=types):
            return next(filter(None, map(_table, types)), None)
        case msgspec.inspect.DictType(value_type=msgspec.inspect.StructType(cls=table)):
            return table
    return None


def schema(name: str = "") -> dict[str, Any]:
    """The JSON schema of `dllint.toml` and of `[tool.dllint]`; `name` is what validate-pyproject calls the table."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:dllint:configuration",
        "title": "dllint",
        "description": "Configuration of dllint: the table tool.dllint of pyproject.toml, or dllint.toml as a whole.",
        "type": "object",
        "additionalProperties": False,
        "properties": _properties(Options),
    }


def text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=2) + "\n"


def _properties(table: type[msgspec.Struct]) -> dict[str, Any]:
    known, tables = keys(table), {name: _table(kind.type) for name, kind in _types(table).items()}
    found = msgspec.json.schema(table)["$defs"][table.__name__]["properties"]
    return {name: _property(known[name], value, tables.get(name)) for name, value in found.items()}


def _property(key: Key, value: dict[str, Any], table: type[msgspec.Struct] | None) -> dict[str, Any]:
    """A key's schema without null, which TOML does not have."""
    kinds = [kind for kind in value.get("anyOf", ()) if kind != {"type": "null"}]
    own = {name: item for name, item in value.items() if name not in ("anyOf", "default", "enum")}
    if "enum" in value:
        own["enum"] = [item for item in value["enum"] if item is not None]
    if table is not None:
        each = {"type": "object", "additionalProperties": False, "properties": _properties(table)}
        own, kinds = {**own, **kinds[0], "additionalProperties": each}, []
    return {**own, **(kinds[0] if kinds else {}), "description": f"{key.description} Default: {key.default}."}

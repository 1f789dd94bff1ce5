"""The results for other programs: JSON lines, and Parquet through pyarrow."""

from __future__ import annotations

import importlib
import io
import json
from typing import Any

from dllint.start_methods import NAMES
from dllint.survey.database import Database

_SOURCE = (
    *("name", "project", "form", "path", "revision", "identity", "tool", "outcome", "reason", "files", "omitted"),
    *("warnings", "seconds", "peak_mb", "finished"),
)
_FINDING = (
    *("source", "number", "code", "rule", "severity", "certainty", "path", "line", "column", "message"),
    *(*NAMES, "route", "frame", "fix", "fingerprint"),
)
_STEP = ("message", "path", "line", "column")


class NotExported(Exception):
    """What the export needs is not there; the message says what."""


def jsonl(database: Database) -> bytes:
    """One source a line, with its findings. Raises NotUsable."""
    findings: dict[str, list[dict[str, Any]]] = {}
    for row in database.rows(f"SELECT {', '.join(_FINDING)} FROM finding ORDER BY source, number"):
        found: dict[str, Any] = dict(zip(_FINDING, row, strict=True))
        found["route"] = [dict(zip(_STEP, step, strict=True)) for step in json.loads(found["route"])]
        findings.setdefault(found.pop("source"), []).append(found)
    lines = []
    for row in database.rows(f"SELECT {', '.join(_SOURCE)} FROM source ORDER BY name"):
        source: dict[str, Any] = dict(zip(_SOURCE, row, strict=True))
        source["warnings"] = json.loads(source["warnings"])
        lines.append(json.dumps({**source, "findings": findings.get(source["name"], [])}) + "\n")
    return "".join(lines).encode()


def parquet(database: Database) -> bytes:
    """One finding a row with the facts of its source; a source without findings is a row of its own, its code null.

    Raises NotUsable and NotExported.
    """
    try:
        arrow = importlib.import_module("pyarrow")
        writer = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise NotExported("Parquet needs pyarrow: pip install pyarrow") from None
    columns = [f"source.{name}" for name in _SOURCE if name != "warnings"]
    columns += [f"finding.{name}" for name in _FINDING[1:]]
    rows = database.rows(
        f"SELECT {', '.join(columns)} FROM source LEFT JOIN finding ON finding.source = source.name "
        "ORDER BY source.name, finding.number"
    )
    names = [name.replace("finding.path", "file").partition(".")[2] or "file" for name in columns]
    schema = arrow.schema([(name, _type(arrow, name)) for name in names])
    table = arrow.table([[row[at] for row in rows] for at in range(len(names))], schema=schema)
    stream = io.BytesIO()
    writer.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _type(arrow: Any, name: str) -> Any:
    if name in ("files", "omitted", "number", "line", "column"):
        return arrow.int64()
    return arrow.float64() if name in ("seconds", "peak_mb") else arrow.string()

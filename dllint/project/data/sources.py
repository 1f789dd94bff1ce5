"""Containers that libraries return: what they hold, and where that comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dllint.knowledge import ANNOTATION_INDEXES
from dllint.model.facts import Expr
from dllint.project.data.elements import Kind
from dllint.project.data.filled import MADE, OF_TABLE, Content
from dllint.project.data.growth import (
    LINEWISE,
    LISTING,
    READ,
    Growth,
    goes_through_store,
    opens,
    reads_rows,
    splits_file,
)
from dllint.project.data.naming import means_few, means_text_or_identifier
from dllint.project.data.tables import Tables
from dllint.project.evaluate.abstract_values import Ext, ExtInst, ExtMethod, Klass, Value

if TYPE_CHECKING:
    from dllint.project import Project

COLUMN = "made of a table's column"
SETTINGS = "read from YAML"
"""What settings are read from: data if code reads all of it item by item, but the value of one key is not data."""
_YAML = ("yaml.safe_load", "yaml.load", "yaml.full_load")
_PATH_LISTING = frozenset({"rglob", "iterdir"})
_TABLE_ROWS = (".to_dict", ".values.tolist", ".to_numpy().tolist", ".itertuples", ".iterrows", ".to_records")
_ARROW_ROWS = frozenset({"to_pylist", "to_dicts", "iter_rows"})
_OF_NUMPY = frozenset({"numpy.load().item", "numpy.load().tolist"})
_TEXT_ARRAYS = ("numpy.loadtxt()", "numpy.genfromtxt()", "numpy.loadtxt", "numpy.genfromtxt")
_TEXT_TYPE = re.compile(r"str|str_|object|[<|]?[USO]\d*")
_COCO = re.compile(
    rf"(?:{'|'.join(map(re.escape, ANNOTATION_INDEXES))})\(\)"
    r"\.(?:dataset|anns|imgs|imgToAnns|img_ann_map|loadAnns|loadImgs|load_anns|load_imgs)"
)
_DRIVES = re.compile(
    r"(?:nuscenes\.(?:nuscenes\.)?NuScenes|lyft_dataset_sdk\.lyftdataset\.LyftDataset)\(\)"
    r"\.(?:sample|sample_data|sample_annotation|instance|ego_pose|calibrated_sensor)"
)
"""Tables of the nuScenes devkit with a dictionary for each record (read in its sources)."""
_FOLDERS = re.compile(
    r"torchvision\.datasets\.(?:folder\.)?(?:(?:ImageFolder|DatasetFolder)\(\)\.(?:samples|imgs)|make_dataset)"
)


class Sources:
    """Answers what a container of a library holds."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self.tables = project.analysis(Tables)

    def of(self, value: Value) -> Content | None:
        """What is read from a file, listed, or kept by an index of annotations."""
        name = _name(value)
        last = name.rpartition(".")[2]
        if name in READ or name in _YAML:
            return Content(Kind.ROW, f"read from {READ[name]}" if name in READ else SETTINGS)
        if _COCO.fullmatch(name):
            return Content(Kind.ROW, "read from COCO annotations")
        if _DRIVES.fullmatch(name):
            return Content(Kind.ROW, "read from nuScenes tables")
        if _FOLDERS.fullmatch(name):
            return Content(Kind.ROW, MADE)
        if not isinstance(value, ExtInst) or value.call.kind != "call" or name.endswith("[]"):
            return None
        if name in _OF_NUMPY:
            return Content(Kind.ROW, "read from a NumPy file")
        if last in LISTING or last in LINEWISE or splits_file(name):
            path = last in _PATH_LISTING or (last == "glob" and value.base is not None)
            return Content(Kind.PATH if path else Kind.STR, MADE)
        if value.base is None:
            return None
        if last in _ARROW_ROWS and self.growth.from_data(value.base):
            return Content(Kind.ROW, OF_TABLE)
        if name.endswith(_TABLE_ROWS) and self.tables.has_rows(value.base) and not self.tables.column(value.base):
            return Content(Kind.ROW, OF_TABLE)
        return self.copied(value.base) if last in ("tolist", "to_list", "unique") else None

    def of_class(self, klass: Klass) -> Content | None:
        """What objects of a class hold that is derived from an index of annotations."""
        bases = self.evaluator.classes.external_bases(klass)
        what = next((ANNOTATION_INDEXES[base] for base in bases if base in ANNOTATION_INDEXES), "")
        return Content(Kind.ROW, f"read from {what}") if what else None

    def copied(self, value: Value) -> Content | None:
        """What a list holds of all that something gives: a file, a reader, a column, an array of text."""
        if isinstance(value, ExtInst) and opens(value.name):
            return Content(Kind.ROW if reads_rows(value.name) else Kind.STR, MADE)
        if self._holds_text(value):
            return Content(Kind.STR, MADE)
        if isinstance(value, ExtInst) and goes_through_store(value.name):
            return Content(Kind.STR if _asks_for_keys(value.call) else Kind.ROW, MADE)
        name = self.tables.column(value)
        if name is None or means_few(name):
            return None
        return Content(Kind.STR if means_text_or_identifier(name) else Kind.ROW, COLUMN)

    def _holds_text(self, array: Value) -> bool:
        """`np.loadtxt(path, dtype=str)`."""
        if not isinstance(array, ExtInst) or array.name not in _TEXT_ARRAYS:
            return False
        dtype = array.call.keyword("dtype")
        return dtype is not None and bool(_TEXT_TYPE.fullmatch(self._type(dtype, array)))

    def _type(self, dtype: Expr, array: ExtInst) -> str:
        """The name of a type as NumPy is given it."""
        if isinstance(dtype.value, str):
            return dtype.value
        values = self.evaluator.values(dtype, array.env)
        return next((value.name.rpartition(".")[2] for value in values if isinstance(value, Ext)), "")


def _asks_for_keys(call: Expr) -> bool:
    """Whether a cursor of LMDB gives keys alone or values alone, not pairs of them."""
    asked = (call.keyword(part) for part in ("keys", "values"))
    return any(part is not None and part.value is False for part in asked)


def _name(value: Value) -> str:
    """The name of what an external value was taken from: `json.load`, `pycocotools.coco.COCO().anns`."""
    if isinstance(value, ExtMethod):
        return f"{value.base.name}().{value.attribute}" if isinstance(value.base, ExtInst) else ""
    return value.name if isinstance(value, ExtInst) else ""

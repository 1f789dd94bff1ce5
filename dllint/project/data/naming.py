"""The contents of columns, keys and attributes, by their names: text, or other objects of their own."""

from __future__ import annotations

import re

from dllint.model.facts import Expr

_TEXT = re.compile(
    r"(?:^|_)(?:path|file|fname|filename|filepath|img|image|url|uri|caption|text|sentence|title|name)s?(?:_|$)"
    r"(?!.*(?:id|idx|num|size))",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"(?:^|_)(?:id|uid|uuid|key)s?(?:_|$)", re.IGNORECASE)
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|\W+")

_FOLDER = re.compile(r"(?:root|path|folder|dir|directory)$", re.IGNORECASE)

_FEW = re.compile(
    r"(?:^|_)(?:class|cls|cat|categor|label|lbl|target|type|kind|lang|language|speaker|spk|task|source"
    r"|domain|gender|emotion|quality|grade|level|rating|(?:split|subset|fold)(?!s?_(?:ix|idxs|inds|indices)$))"
    r"(?:es|s|ies|y)?(?:_|ids?$|idx$|index$|\d*$)",
    re.IGNORECASE,
)

_CLASS = re.compile(r"(?:^|_)(?:class|cls|cat|categor|label|lbl)(?:es|s|ies|y)?(?:_?ids?|_?idx)?$", re.IGNORECASE)

_CHOICE = re.compile(
    r"^(?:is|has|was|only|can|should|use)_|(?:^|_)(?:command|flag|mode|direction|valid)s?$", re.IGNORECASE
)


def means_text(name: str) -> bool:
    """Whether text stands under a name."""
    return bool(_TEXT.search(name))


def means_folder(name: str) -> bool:
    """Whether a folder stands under a name: `data_root`, `imgdir`, not `path_length`."""
    return bool(_FOLDER.search(name))


def name_of(part: Expr) -> str:
    """The name in an expression that says what it is: the last of `args.root`, the key of `settings["root"]`."""
    if part.kind != "subscript":
        return part.name
    return part.args[1].value if isinstance(part.args[1].value, str) else ""


def means_text_or_identifier(name: str) -> bool:
    """Whether text, or an identifier, stands under a name: another object for each item, whichever it is."""
    return means_text(name) or means_identifier(name)


def means_identifier(name: str) -> bool:
    """Whether what stands under a name is another one for each item: `image_id`, `patientId`, `Patient ID`."""
    return bool(_IDENTIFIER.search(_WORDS.sub("_", name)))


def means_class(name: str) -> bool:
    """Whether the classes of items stand under a name: numbers of which there are few, or the same few texts."""
    return bool(_CLASS.search(name))


def means_few(name: str) -> bool:
    """Whether a name is of something that has few values, however many items there are: a label, a kind, a split."""
    return bool(_FEW.search(name))


def means_choice(name: str) -> bool:
    """Whether a truth value, or one of a few numbers, stands under a name: `is_moving`, `only_brake`, `command`."""
    return bool(_CHOICE.search(name))

"""One attribute of a family of classes, with everything that the project does with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from dllint.knowledge import FOLDER_DATASETS
from dllint.model.facts import Expr
from dllint.project.edits.meeting import Meetings
from dllint.project.evaluate.abstract_values import Const, Ext, ExtInst, Func, Inst, Klass, Mod, Seq, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.program.flow import decided
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.syntax.uses import Use

_NOTHING: frozenset[str] = frozenset()
_GRAPHS = frozenset({
    *("root", "log", "transform", "pre_transform", "pre_filter", "force_reload", "data", "slices"),
    *("raw_dir", "raw_file_names", "raw_paths", "processed_dir", "processed_file_names", "processed_paths"),
})  # fmt: skip
_FOLDERS = frozenset({
    *("root", "loader", "extensions", "classes", "class_to_idx", "imgs", "targets"),
    *("transform", "target_transform", "transforms"),
})  # fmt: skip
"""All but `samples`, which may be anything that has items and a length."""
_USED_BY_BASE = {
    **dict.fromkeys(FOLDER_DATASETS, _FOLDERS),
    "torch.utils.data.Dataset": _NOTHING,
    "torch.utils.data.IterableDataset": _NOTHING,
    "torchvision.datasets.VisionDataset": _NOTHING,
    "torchvision.datasets.vision.VisionDataset": _NOTHING,
    "torchgeo.datasets.NonGeoDataset": _NOTHING,
    "torchgeo.datasets.geo.NonGeoDataset": _NOTHING,
    "collections.abc.Sequence": _NOTHING,
    "typing.Protocol": _NOTHING,
    "torch_geometric.data.Dataset": _GRAPHS,
    "torch_geometric.data.InMemoryDataset": _GRAPHS,
    "builtins.object": _NOTHING,
    "abc.ABC": _NOTHING,
    "typing.Generic": _NOTHING,
}
"""Classes of libraries, with the public attributes that their own code uses of those that derive from them."""
_TENSORS = frozenset({"weight", "bias", "grad"})
"""What layers and parameters of torch keep tensors under: `layer.weight.data`."""
_OF_TENSORS = frozenset({"bfloat16", "clone", "cpu", "cuda", "detach", "double", "float", "half", "numel", "to"})
"""Methods of tensors that neither lists, dictionaries nor arrays have, besides those that end in `_`."""
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_MADE = frozenset({"torch.from_numpy", "torch.tensor", "torch.Tensor", "torch.as_tensor"})
_IN_PLACE = re.compile(r"[a-z]\w*[a-z]_")
_ASKING = frozenset({"isinstance", "issubclass", "type", "hasattr", "getattr", "AttributeError"})
_MAKING_NAMES = ("setattr", "__getattr", "__dict__", "decorat")


class Place(msgspec.Struct, frozen=True):
    """A use of the attribute, in a function (-1: the module's own code) of a file."""

    module: Module
    function: int
    use: Use


class AttributeUses:
    """The uses of attributes, by file and name: many fixes ask for those of one name."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._known = OnDemand(self._find)

    def of(self, path: str, name: str, mapping: bool) -> list[Use] | None:
        """Every use in a file of an attribute of this name; None where the running Python cannot read the file."""
        return self._known[path, name, mapping]

    def _find(self, asked: tuple[str, str, bool]) -> list[Use] | None:
        from dllint.syntax.uses import attribute_uses

        path, name, mapping = asked
        return attribute_uses(self.project.source(path), name, mapping)


class Attribute:
    """An attribute that a class sets on itself. The family: the class, what derives from it, and all their bases.

    `mapping`: it is a dictionary. `aliases` are names of attributes that have the same object.
    """

    def __init__(
        self, project: Project, klass: Klass, name: str, mapping: bool = False, aliases: tuple[str, ...] = ()
    ) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.klass = klass
        self.name = name
        self.names = (name, *aliases)
        self.mapping = mapping
        classes = project.evaluator.classes
        derived = (klass, *classes.subclasses(klass))
        self.family = {(item.module.path, item.index): item for one in derived for item in classes.mro(one)}

    def beside(self, name: str) -> Attribute:
        """Another attribute of the same objects."""
        return Attribute(self.project, self.klass, name)

    def hidden(self) -> str:
        """What else may use the attribute, in words: a library's base class, a property, a class body; or "".

        An annotation in a class body binds nothing, but what it says would be wrong of something else.
        """
        classes = self.project.evaluator.classes
        for klass in self.family.values():
            for base in classes.bases(klass):
                if not isinstance(base, Klass) and not self._unknown_to(base):
                    name = f"`{base.name}`" if isinstance(base, Ext) else "which is not seen"
                    return f"the base class of `{klass.facts.name}`, {name}, may use it"
            targets = ((event, event.target) for event in klass.facts.events if event.target is not None)
            named = [event for event, target in targets if any(part.name in self.names for part in target.walk())]
            fields = klass.facts.methods.keys() | classes.dataclass_fields(klass).keys()
            if not fields.isdisjoint(self.names) or any(event.kind != "annotate" for event in named):
                return f"the body of `{klass.facts.name}` binds `{self.name}`, too"
            if named:
                declared = self.project.text(klass.module.path, Span(named[0].start, named[0].end)).split()
                return f"the body of `{klass.facts.name}` declares it: `{' '.join(declared)}`"
        return ""

    def _unknown_to(self, base: Value) -> bool:
        """Whether a library's class does nothing with the attribute."""
        used = self._used_by(base)
        return used is not None and self.name not in used and not (used and self.name.startswith("_"))

    @at_rest
    def near(self) -> list[Place] | None:
        """The places in the files of the family, where most obstacles to a change are."""
        return self._in_files({path: self.project.index.modules[path] for path, _ in sorted(self.family)}.values())

    @at_rest
    def places(self) -> list[Place] | None:
        """Every use in the project that may be of this attribute; None where a file could not be read again."""
        return self._in_files(module for module in self.project.index if not module.settings)

    def _in_files(self, modules: Iterable[Module]) -> list[Place] | None:
        known = self.project.analysis(AttributeUses)
        found: list[Place] = []
        for module in modules:
            uses = [known.of(module.path, name, self.mapping) for name in self.names]
            if None in uses:
                return None
            for use in chain.from_iterable(filter(None, uses)):
                function = innermost(module, use.span.start)
                if self._may_be(module, function, use):
                    found.append(Place(module, function, use))
        return found

    def _may_be(self, module: Module, function: int, use: Use) -> bool:
        """Whether the base may be an object of the family."""
        base = self.project.text(module.path, use.base)
        if base == module.receiver_name(function) or base.startswith("super("):
            return (module.path, module.method_owner(function)) in self.family
        site = next(_expressions_at(module, use.base), None)
        if site is not None:
            tensor = site[0].kind == "attribute" and site[0].name in _TENSORS
            if tensor or self._is_surely_other(site[0], module, site[1]) or self._is_asked_for_more(module, *site):
                return False
            if self._is_parameter(module, *site) or self._keeps_tensor(module, *site):
                return False
        meetings = self.project.analysis(Meetings)
        return any(meetings.may_meet(path, module.path) for path, _ in self.family)

    def _is_surely_other(self, base: Expr, module: Module, function: int) -> bool:
        values = self.project.values(base, self.project.evaluator.generic(module, function))
        return bool(values) and all(map(self._is_other, values))

    def _is_asked_for_more(self, module: Module, base: Expr, function: int) -> bool:
        """Whether the code around a use asks the same object for what no object of the family has: it is another one.

        A test of what it is may keep objects of the family from that.
        """
        parts = [part for event in module.events(function) for part in event.walk()]
        if not self._is_known or any(part.name in _ASKING for part in parts if part.kind == "name"):
            return False
        text = self.project.text(module.path, base.span)
        same = (part for part in parts if part.kind == "attribute" and part.args[0].name == base.name)
        names = {part.name for part in same if self.project.text(module.path, part.args[0].span) == text}
        return any(map(self._lacks, names.difference(self.names)))

    def _is_parameter(self, module: Module, base: Expr, function: int) -> bool:
        """Whether what has the attribute is a layer's parameter, in some case or by a test: no object of the family.

        What is a parameter in one case may be handed over in another one.
        """
        if self._is_any(base, module, function, _PARAMETERS):
            return True
        text = self.project.text(module.path, base.span)
        tests = (known.test for known in decided(module, function, base.start) if known.holds)
        asked = (test.args[1:] for test in tests if test.kind == "call" and test.args[0].name == "isinstance")
        return any(
            len(given) == 2
            and self.project.text(module.path, given[0].span) == text
            and self._is_any(given[1], module, function, _PARAMETERS)
            for given in asked
        )

    def _keeps_tensor(self, module: Module, base: Expr, function: int) -> bool:
        """Whether the code around a use has a tensor under the attribute: `weight.data = weight.data.half()`."""
        text = self.project.text(module.path, base.span)

        def is_it(expr: Expr) -> bool:
            named = expr.kind == "attribute" and expr.name in self.names
            return named and self.project.text(module.path, expr.args[0].span) == text

        for event in module.events(function):
            if event.kind == "assign" and event.target is not None and event.value is not None and is_it(event.target):
                if self._is_any(event.value, module, function, _MADE):
                    return True
            for part in event.walk():
                if part.kind == "attribute" and (part.name in _OF_TENSORS or _IN_PLACE.fullmatch(part.name)):
                    if is_it(part.args[0]):
                        return True
        return False

    def _is_any(self, expr: Expr, module: Module, function: int, names: Set[str]) -> bool:
        """Whether an expression may be one of some things of libraries, or what they make."""
        values = self.project.values(expr, self.project.evaluator.generic(module, function))
        return any(isinstance(value, Ext | ExtInst) and value.name in names for value in values)

    @at_rest
    def _is_known(self) -> bool:
        """Whether all names are seen that objects of the family have, but those that other code sets."""
        classes, family = self.project.evaluator.classes, self.family.values()
        bases = [base for klass in family for base in classes.bases(klass)]
        plain = all(isinstance(base, Klass) or self._used_by(base) == _NOTHING for base in bases)
        texts = (self.project.text(klass.module.path, klass.facts.span) for klass in family)
        return plain and not any(name in text for text in texts for name in _MAKING_NAMES)

    def _lacks(self, name: str) -> bool:
        """Whether no object of the family has an attribute, as far as code shows."""
        has = any(
            name in klass.facts.methods
            or name in klass.module.self_writes.get(klass.index, {})
            or any(event.target is not None and event.target.name == name for event in klass.facts.events)
            for klass in self.family.values()
        )
        set_outside = self.project.index.outside_writes.get(name, ())
        return not (has or name.startswith("__")) and all(
            self._is_surely_other(write.target.args[0], module, write.function) for module, write in set_outside
        )

    def _used_by(self, base: Value) -> frozenset[str] | None:
        return _USED_BY_BASE.get(base.name) if isinstance(base, Ext) else None

    def _is_other(self, value: Value) -> bool:
        """Whether a value is certainly not an object of the family."""
        match value:
            case Inst() | Klass():
                klass = value.klass if isinstance(value, Inst) else value
                mro = self.project.evaluator.classes.mro(klass)
                return not any((item.module.path, item.index) in self.family for item in mro)
            case ExtInst(name=name, call=call):
                return call.kind == "call" and not name.startswith(("torch.utils.data", "copy.", "lightning."))
            case Const() | Seq() | Func() | Mod():
                return True
            case Ext(name=name):
                return "." not in name  # a library's module
        return False


def innermost(module: Module, offset: int) -> int:
    """The function around an offset, or -1."""
    around = [item for item in module.model.functions if item.span.start <= offset < item.span.end]
    return min(around, key=lambda item: item.span.end - item.span.start).index if around else -1


def _expressions_at(module: Module, span: Span) -> Iterator[tuple[Expr, int]]:
    """The expression of a span, with the function whose code it is."""
    for function, _, events in module.scopes:
        for event in events:
            for root in (event.value, event.target):
                if root is not None and root.start <= span.start and span.end <= root.end:
                    for part in root.walk():
                        if (part.start, part.end) == (span.start, span.end):
                            yield part, function

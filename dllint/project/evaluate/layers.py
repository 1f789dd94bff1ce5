"""Whether an object has tensors that go to a device with it: a module without any touches no device.

`Module.to` and `Module.cuda` go over parameters and buffers. A layer without them, such as a pooling layer or most
losses, leaves CUDA as it was (run in torch 2.13: `AvgPool2d(3).to("cuda")` passes without a driver).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.knowledge import EMPTY_LAYERS, LAYER_CONTAINERS, MAKES_ANYTHING, MODULES
from dllint.model.facts import Expr
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Func, Inst, Klass, Method, Opaque, Seq, Value
from dllint.project.program.module import Module

_OPERATIONS = frozenset({"binop", "compare", "unary", "fstring"})
_REGISTERS = frozenset({"add_module", "register_buffer", "register_parameter", "setattr", "__dict__"})
_GIVE_SELF = (".cuda", ".double", ".eval", ".float", ".half", ".requires_grad_", ".to", ".train")
"""Methods of modules that give the module back, and of tensors that give a tensor."""
_OF_TENSORS = frozenset({"weight", "pos_weight", "affine", "elementwise_affine", "track_running_stats"})
"""Arguments that decide whether a layer of torch's has parameters or buffers."""


class Layers:
    """Answers whether moving a value moves tensors."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[Value, Answer] = {}

    def moved(self, expr: Expr, env: Env) -> Answer:
        """Whether `.to(device)` on an expression moves anything."""
        answers = {self._of(value) for value in self.evaluator.values(expr, env)}
        return answers.pop() if len(answers) == 1 else Answer.UNKNOWN

    def may_stay(self, expr: Expr, env: Env) -> bool:
        """Whether `.to(device)` moves nothing of one of the values of an expression."""
        return any(self._of(value) is Answer.NO for value in self.evaluator.values(expr, env))

    def _of(self, value: Value) -> Answer:
        return self.evaluator.ask(self._known, value, Answer.NO, self._find, value)

    def _find(self, value: Value) -> Answer:
        match value:
            case Inst(klass=klass) if self.evaluator.classes.is_a(klass, MODULES) is Answer.YES:
                return self._of_module(value)
            case ExtInst(name=name, base=base) if base is not None and name.endswith(_GIVE_SELF):
                return self._of(base)
            case ExtInst(name=name) if name.startswith("torch.nn.") and "()" in name:
                return Answer.UNKNOWN
            case ExtInst(name=name, call=call, env=env) if name.startswith("torch.nn."):
                return self._of_layer(name.rpartition(".")[2], call, env)
            case ExtInst(name=name) if name.startswith("torch.") and not name.startswith(MAKES_ANYTHING):
                return Answer.YES
        return Answer.UNKNOWN

    def _of_layer(self, name: str, call: Expr, env: Env) -> Answer:
        given = [*call.args[1:], *(item for _, item in call.keywords)]
        if name in LAYER_CONTAINERS:
            return _any(self._part(value) for item in given for value in self._elements(item, env))
        if not name[:1].isupper():
            return Answer.YES  # a function's tensor
        if any(key in _OF_TENSORS or key == "**" for key, _ in call.keywords):
            return Answer.UNKNOWN
        if not EMPTY_LAYERS.fullmatch(name):
            return Answer.YES
        return Answer.UNKNOWN if len(call.args) > 1 and "Loss" in name else Answer.NO  # it may be its weights

    def _elements(self, expr: Expr, env: Env) -> Iterator[Value]:
        """What a container of layers is given: layers, `*layers`, lists and dictionaries of them."""
        starred = expr.kind == "star"
        for value in self.evaluator.values(expr.args[0] if starred else expr, env):
            if isinstance(value, Seq):
                yield from self.evaluator.containers.elements(value)
            elif starred:
                yield Opaque(expr, env)
            else:
                yield value

    def _of_module(self, inst: Inst) -> Answer:
        """Of a class of the project: what its objects are known to register, unless more may be registered unseen."""
        classes = self.evaluator.classes
        chain = classes.mro(inst.klass)
        found = _any(
            self._kept(inst, name) for klass in chain for name in klass.module.self_writes.get(klass.index, {})
        )
        if found is not Answer.NO:
            return found
        bases = [name.rpartition(".")[2] for name in classes.external_bases(inst.klass) if name not in MODULES]
        seen = classes.plain(inst.klass) and all(map(EMPTY_LAYERS.fullmatch, bases))
        seen = seen and not self.evaluator.attributes.attributes_set_outside(inst.klass)
        return Answer.NO if seen and not any(map(_registers, chain)) else Answer.UNKNOWN

    def _kept(self, inst: Inst, name: str) -> Answer:
        """Whether what an attribute is has tensors: a tensor that is no parameter isn't moved."""
        answers = set()
        for stored in self.evaluator.attributes.stored(inst, name):
            write, _, env = stored
            sure = write is None or self.evaluator.reached.surely(env, write.event.start)
            for value in self.evaluator.attributes.stored_values(stored):
                answer = self._part(value)
                answers.add(Answer.UNKNOWN if answer is Answer.YES and not sure else answer)
        return answers.pop() if len(answers) == 1 else Answer.UNKNOWN if answers else Answer.NO

    def _part(self, value: Value) -> Answer:
        """Whether something that a module keeps is moved with it."""
        match value:
            case Const() | Seq() | Func() | Klass() | Method():
                return Answer.NO
            case Opaque(expr=expr) if expr.kind in _OPERATIONS:
                return Answer.NO
            case ExtInst(name=name) if name.startswith("torch.") and not name.startswith("torch.nn."):
                return Answer.UNKNOWN if name.startswith(MAKES_ANYTHING) else Answer.NO
            case ExtInst(name=name) if name.startswith(("builtins.", "math.", "numpy.")):
                return Answer.NO
        return self._of(value)


def _any(answers: Iterable[Answer]) -> Answer:
    found = set(answers)
    return next((answer for answer in (Answer.YES, Answer.UNKNOWN) if answer in found), Answer.NO)


def _registers(klass: Klass) -> bool:
    """Whether methods of a class register what no assignment shows."""
    module: Module = klass.module
    return any(
        part.name in _REGISTERS
        for index in klass.facts.methods.values()
        for event in module.events(index)
        for part in event.walk()
    )

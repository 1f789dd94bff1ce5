"""CUDA in code: which calls use it, which only initialize it, which values name a CUDA device.

Run with torch 2.11 and CUDA 13 on an H200 (`tests/test_cuda_claims.py`): a forked child that uses CUDA raises when its
parent has asked the driver anything; several harmless looking queries do ask.
"""

from __future__ import annotations

from dllint.model.facts import Expr
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, ExtMethod, Free, Klass, Opaque, Value
from dllint.project.evaluate.layers import Layers
from dllint.project.loaders.arguments import event_of
from dllint.project.loaders.option_defaults import Declared
from dllint.project.program.flow import decided

_LAZY = frozenset({
    "manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state", "set_rng_state_all", "device_count",
    "is_initialized", "is_available", "get_arch_list", "get_gencode_flags", "empty_cache", "device", "device_of", "amp",
    "nvtx", "nccl", "tunable", "Event", "OutOfMemoryError", "get_allocator_backend", "graph_pool_handle",
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
    "max_memory_cached", "memory_stats", "memory_stats_as_nested_dict", "memory_snapshot", "host_memory_stats",
    "host_memory_stats_as_nested_dict", "reset_peak_host_memory_stats", "caching_allocator_enable",
    "_record_memory_history", "_snapshot", "_dump_snapshot", "_is_in_bad_fork",
})  # fmt: skip
"""Members of torch.cuda that raise nothing in a child of such a parent: queued until CUDA is there, or without it."""
_QUERIES = frozenset({
    "torch.cuda.is_available", "torch.cuda.get_arch_list", "torch.cuda.get_gencode_flags",
    "torch.accelerator.is_available",
})  # fmt: skip
"""They raise nothing in such a child, either, but a parent that calls them poisons its children."""
_INNER = ("memory", "random")
"""Modules of torch.cuda whose members are its own, too."""

_NAMESPACES = frozenset(
    {"args", "opt", "opts", "options", "config", "cfg", "conf", "hparams", "flags", "params", "arguments"}
)


class Devices:
    """Answers for CUDA."""

    def __init__(self, evaluator: Evaluator, declared: Declared) -> None:
        self.evaluator = evaluator
        self.declared = declared
        self.layers = Layers(evaluator)
        self._named: dict[tuple[Expr, int], bool] = {}

    def use(self, call: Expr, env: Env) -> str:
        """How a call uses CUDA, as code; "" when it does not, as far as can be seen."""
        callee = call.args[0]
        if callee.kind == "attribute" and callee.name == "cuda" and not self._is_torch(callee.args[0], env):
            return "" if self.layers.moved(callee.args[0], env) is Answer.NO else ".cuda()"
        if callee.kind == "attribute" and callee.name == "to":
            given = (*call.args[1:2], *(value for key, value in call.keywords if key == "device"))
            if not any(self.is_cuda(arg, env) for arg in given):
                return ""
            return "" if self.layers.moved(callee.args[0], env) is Answer.NO else ".to(<a CUDA device>)"
        device = call.keyword("device")
        if device is not None and callee.name not in ("device", "DataLoader") and self.is_cuda(device, env):
            return "" if self._may_only_keep(callee, env) else "device=<a CUDA device>"
        for value in self.evaluator.values(callee, env):
            if isinstance(value, Ext) and value.name.startswith("torch.cuda."):
                names = [name for name in value.name.split(".")[2:] if name not in _INNER]
                if names and (names[0] not in _LAZY or _entered(call, env, names[0])) and not self._asked(call, env):
                    return f"torch.cuda.{names[0]}()"
        return ""

    def surely(self, call: Expr, env: Env) -> bool:
        """Whether a call that uses CUDA is known to: a module that moves may have nothing that moves with it."""
        callee = call.args[0]
        moves = callee.kind == "attribute" and callee.name in ("cuda", "to") and not self._is_torch(callee.args[0], env)
        return not moves or self.layers.moved(callee.args[0], env) is Answer.YES

    def _may_only_keep(self, callee: Expr, env: Env) -> bool:
        """Whether a call makes an object that may only remember its device: of a class that is not torch's."""
        values = self.evaluator.values(callee, env)
        return bool(values) and all(
            isinstance(value, Klass)
            or (isinstance(value, Ext) and _names_class(value.name) and not _is_torchs(value.name))
            for value in values
        )

    def _asked(self, call: Expr, env: Env) -> bool:
        """Whether a call only runs for a device that proves to be CUDA, and it is not known that one does."""
        tests = [known.test for known in decided(env.module, env.function, call.start)]
        return any(asks_for_cuda(test) and not self._about_cuda(test, env) for test in tests)

    def _about_cuda(self, test: Expr, env: Env) -> bool:
        subjects = [part.args[0] if part.name == "type" and part.args else part for part in test.walk()]
        return any(self.is_cuda(part, env) for part in subjects if part.kind in ("name", "attribute"))

    def initialises(self, call: Expr, env: Env) -> str:
        """How a call initializes CUDA in its process, or asks the driver, which is as bad before a fork."""
        used = self.use(call, env)
        if used:
            return used
        for value in self.evaluator.values(call.args[0], env):
            if isinstance(value, Ext) and value.name in _QUERIES:
                return f"{value.name}()"
        return ""

    def _is_torch(self, expr: Expr, env: Env) -> bool:
        return any(isinstance(value, Ext) and value.name == "torch" for value in self.evaluator.values(expr, env))

    def is_cuda(self, expr: Expr, env: Env) -> bool:
        """Whether an expression may name a CUDA device, by a literal that can be followed to it."""
        return self.evaluator.ask(self._named, (expr, id(env)), False, self._is_cuda, expr, env)

    def _is_cuda(self, expr: Expr, env: Env) -> bool:
        return any(self._names_cuda(value, env) for value in self.evaluator.values(expr, env))

    def _names_cuda(self, value: Value, env: Env) -> bool:
        match value:
            case Const(value=text):
                return isinstance(text, str) and text.startswith("cuda")
            case ExtInst(name="torch.device", call=call, env=env) if len(call.args) > 1:
                return self.is_cuda(call.args[1], env)
            case ExtInst(name=name, call=call, env=env) if name.endswith(".format"):
                base = call.args[0].args[0]
                return isinstance(base.value, str) and base.value.startswith("cuda")
            case ExtMethod(base=base, attribute=attribute) if is_namespace(base):
                return any(
                    self.is_cuda(*pair) for pair in self.declared.option(attribute, value) if self._near(pair[1], env)
                )
            case Opaque(expr=expr) if expr.kind == "fstring":
                return isinstance(expr.value, str) and expr.value.startswith("cuda")
            case Opaque(expr=expr, env=env) if expr.kind == "binop":
                return self.is_cuda(expr.args[0], env)
        return False

    def _near(self, declared: Env, used: Env) -> bool:
        """Whether an option's declaration belongs to the program: one file imports the other, or is the other."""
        index = self.evaluator.index
        here, there = used.module.path, declared.module.path
        return here in index.imports(there) or there in index.imports(here)


def _entered(call: Expr, env: Env, member: str) -> bool:
    """Whether a call makes a device that a `with` statement makes the current one."""
    event = event_of(env, call) if member == "device" else None
    return event is not None and event.kind == "with" and event.value is call


def _names_class(name: str) -> bool:
    """Whether a dotted name reads like a class's: `Predictor`, `nnUNetPredictor`."""
    last = name.rpartition(".")[2]
    return not last.islower() and "_" not in last


def _is_torchs(name: str) -> bool:
    """Whether torch's own code, which makes tensors on the device that it is given, has a name."""
    return name.startswith(("torch.", "torchvision.", "torchaudio."))


def asks_for_cuda(test: Expr) -> bool:
    """`device.type == "cuda"`, `"cuda" in device`, `x.is_cuda`."""
    return any(
        part.name == "is_cuda" or (isinstance(part.value, str) and part.value.startswith("cuda"))
        for part in test.walk()
    )


def is_namespace(value: Value) -> bool:
    """Whether a value holds parsed options: what a parser returns, or something that is named like it."""
    match value:
        case ExtInst(name=name):
            return name.endswith(("parse_args", "parse_known_args", "parse_known_args[]"))
        case Free(name=name):
            return name.lower() in _NAMESPACES
        case Opaque(expr=expr):
            return expr.name.lower() in _NAMESPACES
        case ExtMethod(attribute=attribute):
            return attribute.lower() in _NAMESPACES
    return False

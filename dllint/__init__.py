"""dllint: finds the code that breaks, bloats or hangs once a DataLoader hands it to worker processes.

Only the names a rule may import are public here; they load on first use, so `dllint --version` imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "ALL_METHODS": "dllint.project.targets",
    "Alternative": "dllint.project.given",
    "Applicability": "dllint.fix",
    "Attribute": "dllint.project.attribute",
    "Certainty": "dllint.finding",
    "Const": "dllint.project.values",
    "Edit": "dllint.fix",
    "Env": "dllint.project.values",
    "Event": "dllint.model.facts",
    "Expr": "dllint.model.facts",
    "Ext": "dllint.project.values",
    "ExtInst": "dllint.project.values",
    "ExtMethod": "dllint.project.values",
    "FORK": "dllint.project.targets",
    "Finding": "dllint.finding",
    "Fix": "dllint.fix",
    "Func": "dllint.project.values",
    "Function": "dllint.model.facts",
    "GUARD": "dllint.syntax.tail",
    "Guarded": "dllint.project.guarded",
    "Held": "dllint.project",
    "Import": "dllint.fix",
    "ImportedName": "dllint.model.facts",
    "Inst": "dllint.project.values",
    "Kind": "dllint.project.listings",
    "Klass": "dllint.project.values",
    "Lazy": "dllint.syntax.lazy",
    "Loader": "dllint.project",
    "Mod": "dllint.project.values",
    "Module": "dllint.project.index",
    "ModuleModel": "dllint.model.facts",
    "Note": "dllint.finding",
    "OwnAttribute": "dllint.project.own_attribute",
    "Owner": "dllint.project.owners",
    "PICKLING": "dllint.project.targets",
    "Place": "dllint.project.attribute",
    "Project": "dllint.project",
    "Reseed": "dllint.project.reseeding",
    "Rule": "dllint.rule",
    "Running": "dllint.project",
    "Seeding": "dllint.project.reseeding",
    "Seq": "dllint.project.values",
    "Severity": "dllint.finding",
    "Shared": "dllint.project.kept",
    "Site": "dllint.project.index",
    "Span": "dllint.source",
    "Start": "dllint.project.main_code",
    "StartMethodProblem": "dllint.project.start_methods",
    "Statement": "dllint.syntax.tail",
    "Task": "dllint.project",
    "Use": "dllint.syntax.uses",
    "Value": "dllint.project.values",
    "Workers": "dllint.project",
    "Write": "dllint.project.index",
    "asks_in_vain": "dllint.project.sharding",
    "after_statement": "dllint.syntax.uses",
    "attribute_uses": "dllint.syntax.uses",
    "endless_getattr": "dllint.project.states",
    "event_names": "dllint.project.index",
    "flat_targets": "dllint.project.index",
    "guard_getattr": "dllint.syntax.getattr_guard",
    "guarded": "dllint.syntax.tail",
    "helper": "dllint.syntax.helper",
    "hoist_class": "dllint.syntax.hoist_class",
    "hoist_function": "dllint.syntax.hoist_function",
    "hoist_lambda": "dllint.syntax.hoist",
    "into_guard": "dllint.syntax.tail",
    "is_none": "dllint.project.evaluate.conditions",
    "is_part": "dllint.project.handles",
    "is_test": "dllint.project.index",
    "kept_handle": "dllint.project.kept",
    "lazy_attribute": "dllint.syntax.lazy",
    "lazy_members": "dllint.syntax.lazy",
    "module_alias": "dllint.syntax.names",
    "name_uses": "dllint.syntax.uses",
    "namedtuple_of": "dllint.project.shipped",
    "own_attribute": "dllint.project.own_attribute",
    "owners": "dllint.project.owners",
    "reference": "dllint.syntax.names",
    "shared_under_fork": "dllint.project.kept",
    "tensors_in_state": "dllint.project.states",
    "top_statements": "dllint.syntax.tail",
    "unbound": "dllint.syntax.unbound",
    "under_main_guard": "dllint.project.guards",
    "unpicklable_class": "dllint.project.shipped",
    "unpicklable_function": "dllint.project.shipped",
    "without_import": "dllint.syntax.removal",
    "without_statement": "dllint.syntax.removal",
    "worker_functions": "dllint.project.kept",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)

"""The types of the public names, which the package itself loads on first use."""

from dllint.finding import Certainty as Certainty
from dllint.finding import Finding as Finding
from dllint.finding import Note as Note
from dllint.finding import Severity as Severity
from dllint.fix import Applicability as Applicability
from dllint.fix import Edit as Edit
from dllint.fix import Fix as Fix
from dllint.fix import Import as Import
from dllint.model.facts import Event as Event
from dllint.model.facts import Expr as Expr
from dllint.model.facts import Function as Function
from dllint.model.facts import ModuleModel as ModuleModel
from dllint.project import Held as Held
from dllint.project import Loader as Loader
from dllint.project import Project as Project
from dllint.project import Running as Running
from dllint.project import Task as Task
from dllint.project import Workers as Workers
from dllint.project.evaluate.conditions import is_none as is_none
from dllint.project.given import Alternative as Alternative
from dllint.project.guards import under_main_guard as under_main_guard
from dllint.project.index import Module as Module
from dllint.project.kept import Shared as Shared
from dllint.project.kept import kept_handle as kept_handle
from dllint.project.kept import shared_under_fork as shared_under_fork
from dllint.project.kept import worker_functions as worker_functions
from dllint.project.listings import Kind as Kind
from dllint.project.main_code import Start as Start
from dllint.project.shipped import namedtuple_of as namedtuple_of
from dllint.project.shipped import unpicklable_class as unpicklable_class
from dllint.project.shipped import unpicklable_function as unpicklable_function
from dllint.project.states import endless_getattr as endless_getattr
from dllint.project.states import tensors_in_state as tensors_in_state
from dllint.project.targets import ALL_METHODS as ALL_METHODS
from dllint.project.targets import FORK as FORK
from dllint.project.targets import PICKLING as PICKLING
from dllint.project.values import Const as Const
from dllint.project.values import Ext as Ext
from dllint.project.values import ExtInst as ExtInst
from dllint.project.values import Func as Func
from dllint.project.values import Inst as Inst
from dllint.project.values import Klass as Klass
from dllint.project.values import Value as Value
from dllint.rule import Rule as Rule
from dllint.source import Span as Span
from dllint.syntax.hoist import hoist_lambda as hoist_lambda
from dllint.syntax.hoist_class import hoist_class as hoist_class
from dllint.syntax.hoist_function import hoist_function as hoist_function
from dllint.syntax.names import reference as reference

__version__: str
__all__: list[str]

"""The types of the public names, which the package itself loads on first use."""

from dllint.finding import Certainty as Certainty
from dllint.finding import Finding as Finding
from dllint.finding import Note as Note
from dllint.finding import Severity as Severity
from dllint.fix import Applicability as Applicability
from dllint.fix import Edit as Edit
from dllint.fix import Fix as Fix
from dllint.fix import Import as Import
from dllint.model.facts import Expr as Expr
from dllint.model.facts import Function as Function
from dllint.model.facts import ModuleModel as ModuleModel
from dllint.project import Project as Project
from dllint.rule import Rule as Rule
from dllint.source import Span as Span
from dllint.syntax.hoist import hoist_lambda as hoist_lambda
from dllint.syntax.hoist_function import hoist_function as hoist_function
from dllint.syntax.names import reference as reference

__version__: str
__all__: list[str]

"""Classes under computed names: of one module all that it has; of several that may be meant, what each defines."""

import importlib

from kinds import wide

name = input()

reveal(getattr(wide, name))  # reveals: type[Base] | type[Wide]
reveal(getattr(importlib.import_module("kinds." + name), name))  # reveals: type[Plain] | type[Wide]

"""On the path of every program that `tests.claims` runs: gives its main process another default start method.

`tests/claims_host.py` asks for that itself. Worker processes import this too and must not be touched, so the variables
are taken out of the environment at once.
"""

import os

_method = os.environ.pop("DLLINT_CLAIM_METHOD", "")
_report = os.environ.pop("DLLINT_CLAIM_REPORT", "")


def prepare(method: str, path: str) -> None:
    """Change the platform's default start method, and report in a file what ends the main process.

    Children share its standard error.
    """
    import json
    import multiprocessing.context as contexts
    import sys
    from types import TracebackType

    main = os.getpid()

    def report(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if os.getpid() == main:
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"types": [base.__name__ for base in kind.__mro__], "message": str(error)}, file)
        sys.__excepthook__(kind, error, traceback)

    # The private attribute, and not set_start_method: a program may call that itself, and once only.
    contexts._default_context._default_context = contexts._concrete_contexts[method]  # type: ignore[attr-defined]
    sys.excepthook = report


if _method:
    prepare(_method, _report)

"""`python -m dllint`, as safe as the `dllint` script: it never imports from the working directory."""

import os
import sys

if __name__ == "__main__":
    # `-m` puts that folder first. It may be anybody's checkout, unless it is the one that this file is of.
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated) and sys.path[0] not in ("", own):
        del sys.path[0]

    from dllint.cli import main

    main()

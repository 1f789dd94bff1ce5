"""`python -m dllint`."""

from dllint.cli import main

if __name__ == "__main__":
    main()

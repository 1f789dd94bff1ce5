"""The main process of a probe: `python -m dllint.runtime.probe.child PLAN`. Workers import it again, so it is empty."""

if __name__ == "__main__":
    import sys

    from dllint.runtime.probe.inside import main

    main(sys.argv[1])

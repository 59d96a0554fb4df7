"""``python -m ms_compat``: the same as ``ms-compat``."""

from ms_compat.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

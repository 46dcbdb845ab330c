"""``python -m mxlite``: the command ``mxlite``."""

import sys

from mxlite._cli import main

if __name__ == "__main__":
    sys.exit(main())

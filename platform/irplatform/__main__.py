"""Where the `platform` command begins, and `python -m irplatform`, which is the same.

Nothing is imported before Ctrl-C is looked after: the modules of the command line take a while.
"""

import os
import sys


def main() -> None:
    """Run the command line; see `irplatform.cli.main`. Ctrl-C ends it quietly meanwhile."""
    try:
        from irplatform.cli.main import main as run
        from irplatform.interruptions import INTERRUPTED
        from irplatform.stdout import finish

        try:
            run()
        except SystemExit as end:
            if end.code in INTERRUPTED:  # libraries may take seconds to tidy up
                os._exit(int(end.code or 0))
            raise
        finally:
            finish()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

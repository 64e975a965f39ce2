"""Where the `platform` command begins, and `python -m irplatform`, which is the same.

Nothing is imported before Ctrl-C is looked after: the modules of the command line take a while.
"""

import sys


def main() -> None:
    """Run the command line; see `irplatform.cli.main`. Ctrl-C ends it quietly meanwhile."""
    try:
        from irplatform.cli.main import main as run
        from irplatform.stdout import finish

        try:
            run()
        finally:
            finish()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

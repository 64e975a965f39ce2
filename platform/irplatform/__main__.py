"""Where the `platform` command begins, and `python -m irplatform`, which is the same.

Nothing is imported before Ctrl-C is looked after: the modules of the command line take a while.
"""

import locale
import os
import sys


def speak_utf_8() -> None:
    """Begin again where the locale has another encoding: names of files, and Java, go by it."""
    if os.name == "nt" or locale.nl_langinfo(locale.CODESET).upper() == "UTF-8":
        return
    wanted = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    if wanted.items() <= os.environ.items():  # a system without that locale
        return
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **wanted})


def main() -> None:
    """Run the command line; see `irplatform.cli.main`. Ctrl-C ends it quietly meanwhile."""
    try:
        speak_utf_8()
        from irplatform.cli.main import main as run
        from irplatform.system.process import INTERRUPTED, finish

        try:
            run()
        except SystemExit as end:
            if end.code in INTERRUPTED:
                finish()  # and no more: libraries may take seconds to tidy up
                os._exit(int(end.code or 0))
            raise
        finally:
            finish()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

"""The start of the `platform` command, and of `python -m irplatform`.

Other modules are imported in `main`, where Ctrl-C is caught.
"""

import locale
import os
import sys


def speak_utf_8() -> None:
    """Restart with UTF-8 if the locale has another encoding, which file names and Java use."""
    if os.name == "nt" or locale.nl_langinfo(locale.CODESET).upper() == "UTF-8":
        return
    variables = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    if variables.items() <= os.environ.items():  # the system lacks this locale
        return
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **variables})


def main() -> None:
    """Run the command line (`irplatform.cli.main`)."""
    try:
        speak_utf_8()
        from irplatform.system.packages import missing_extra
        from irplatform.system.process import INTERRUPTED, finish

        try:
            from irplatform.cli.main import main as run
        except Exception as error:  # click, which it imports, is damaged or missing
            if message := missing_extra(error):
                print(f"platform: {message}", file=sys.stderr)
                sys.exit(2)
            raise
        try:
            run()
        except SystemExit as end:
            if end.code in INTERRUPTED:
                finish()  # the exit of libraries may take seconds
                os._exit(int(end.code or 0))
            raise
        finally:
            finish()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

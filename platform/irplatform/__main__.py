"""`python -m irplatform` is the `platform` command."""

from irplatform.cli.main import main

if __name__ == "__main__":
    main()

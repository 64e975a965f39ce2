"""Single files of ir_datasets' list of downloads, by the library's own downloader.

It keeps them under `$IR_DATASETS_HOME`, compares their MD5 sums and tries mirrors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from irplatform.collections.irds.announce import quieten
from irplatform.collections.irds.downloads import FAILURES, Download, described, is_there
from irplatform.console import notice
from irplatform.errors import PlatformError


def missing_file(context: str, name: str) -> Download | None:
    """What `fetch_file` would download; None if the file is there."""
    download = _download(context, name)
    return None if is_there(download) else described(download)


def fetch_file(context: str, name: str, *, instead: str) -> Path:
    """A file, downloaded if it is not there, after saying so."""
    from ir_datasets.util import home_path

    download = _download(context, name)
    if needed := missing_file(context, name):
        quieten()
        notice(f"ir_datasets downloads {needed} to {home_path()}")
    try:
        return Path(download.path())
    except FAILURES as error:
        place = f"put it at {needed.path} by hand, " if needed and needed.path else ""
        raise PlatformError(
            f"ir_datasets cannot get {needed or name} ({type(error).__name__}). Run this again "
            f"with a network, {place}or {instead}."
        ) from error


def _download(context: str, name: str) -> Any:
    from ir_datasets.util import DownloadConfig, home_path

    return DownloadConfig.context(context, home_path() / context)[name]

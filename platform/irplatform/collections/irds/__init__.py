"""Any dataset of ir_datasets (MacAvaney et al., SIGIR 2021) as a collection."""

from irplatform.collections.irds.dataset import exists, known, open_dataset, with_training
from irplatform.collections.irds.downloads import Download, what_would_be_downloaded
from irplatform.collections.irds.fetch import fetch, refuse_silent_downloads

__all__ = [
    "Download",
    "exists",
    "fetch",
    "known",
    "open_dataset",
    "refuse_silent_downloads",
    "what_would_be_downloaded",
    "with_training",
]

"""Any dataset of ir_datasets (MacAvaney et al., SIGIR 2021) as a collection."""

from irplatform.collections.irds.dataset import exists, known, open_dataset
from irplatform.collections.irds.downloads import Download, what_would_be_downloaded

__all__ = ["Download", "exists", "known", "open_dataset", "what_would_be_downloaded"]

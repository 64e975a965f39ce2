"""Any dataset of ir_datasets as a collection (MacAvaney, Yates, Feldman, Downey, Cohan, SIGIR 2021)."""

from irplatform.collections.irds.dataset import exists, known, open_dataset
from irplatform.collections.irds.downloads import Download, what_would_be_downloaded

__all__ = ["Download", "exists", "known", "open_dataset", "what_would_be_downloaded"]

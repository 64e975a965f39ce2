"""Closed pools of TREC Precision Medicine: the judged documents, without the rest of MEDLINE."""

from irplatform.collections.trec_pm_pool.build import build_pool, preview
from irplatform.collections.trec_pm_pool.settings import PoolSettings
from irplatform.collections.trec_pm_pool.sources import Given

__all__ = ["Given", "PoolSettings", "build_pool", "preview"]

"""The keywords of Python's functions, as an editor completes them.

Made by docs/generate_keywords.py from the settings of `irplatform.judging`: change those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from irplatform.experiment.arguments import AnyQrels, Names


class PoolOptions(TypedDict, total=False):
    """Keywords of `irplatform.pool_runs`."""

    method: Literal["depth", "stratified", "move-to-front", "worth", "rrf", "rbp"]
    """depth: the first documents of every run. stratified: a sample of strata by rank, for infNDCG
    and infAP. move-to-front: the runs that keep bringing relevant documents, in rounds. worth: what
    tells the runs apart, in rounds. rrf and rbp: documents that the runs rank high together."""
    depth: int | None
    """Documents of a topic of each run that can be pooled; default: 20 for worth and for depth
    without a budget, else 100."""
    budget: int | None
    """Documents to judge, of all topics together; default: all that are pooled."""
    strata: Names
    """Strata of a stratified sample: down to which rank, and which share of its documents is
    judged; default: 10:1,100:0.2, the first ten ranks of every run whole, and a fifth of the rest
    down to 100. A budget scales the shares."""
    batch: int | None
    """Documents of a round of move-to-front and worth; default: a tenth of the budget."""
    judged: AnyQrels | None
    """A file of judgments that there are already, as TREC's or as written here. Their documents are
    left out, and methods that learn learn from them. Without runs: what the next round of POOL
    learns from."""
    seed: int
    """Random seed of the order of judging, and of samples."""
    rate: float
    """Documents that a person judges in a minute, an assumption."""
    deviation: float
    """Standard deviation over topics of the difference of two systems' nDCG@20, an assumption where
    no judgments tell it."""
    plan: bool
    """Say what the pool would cost and decide; write nothing."""

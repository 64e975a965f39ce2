"""Groups of features as a service: for learning to rank, and for the last layer of neural models.

A group is a plugin (`plugin.FeatureGroup`); here is what every model that reads groups shares.
`SideFeatures` is all that a neural reranker needs: groups opened by name, computed once, learned
out of fold where they learn, standardized on the training topics, saved with the weights.
"""

from irplatform.features.calculator import Calculator, forget_features
from irplatform.features.contributions import contributions
from irplatform.features.cross_fitting import cross_fitted
from irplatform.features.dependencies import (
    check_systems,
    dependencies,
    hold_first_stage,
    rerankers_with_knowledge,
    with_knowledge,
)
from irplatform.features.folding import Folding
from irplatform.features.groups import Batch, Features, Group, open_groups
from irplatform.features.named import (
    NamedSystems,
    named_groups,
    named_rerankers,
    named_retrievers,
)
from irplatform.features.reads_features import ReadsFeatures
from irplatform.features.saved_groups import load_groups, save_groups
from irplatform.features.side import SideFeatures

__all__ = [
    "Batch",
    "Calculator",
    "Features",
    "Folding",
    "Group",
    "NamedSystems",
    "ReadsFeatures",
    "SideFeatures",
    "check_systems",
    "contributions",
    "cross_fitted",
    "dependencies",
    "forget_features",
    "hold_first_stage",
    "load_groups",
    "named_groups",
    "named_rerankers",
    "named_retrievers",
    "open_groups",
    "rerankers_with_knowledge",
    "save_groups",
    "with_knowledge",
]

"""Groups of features, for learning to rank and for the last layer of neural models.

A group is a plugin (`plugin.FeatureGroup`). `SideFeatures` is all that a neural reranker needs:
groups opened by name, computed once, learned out of fold, standardized on the training topics,
saved with the weights.
"""

from irplatform.features.calculator import Calculator
from irplatform.features.groups import Features, Group, applying, open_groups
from irplatform.features.side_features import SideFeatures

__all__ = [
    "Calculator",
    "Features",
    "Group",
    "SideFeatures",
    "applying",
    "open_groups",
]

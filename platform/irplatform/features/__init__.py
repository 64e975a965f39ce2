"""Groups of features, for learning to rank and for the last layer of neural models.

A group is a plugin (`plugin.FeatureGroup`). `SideFeatures` is all that a neural reranker needs:
groups opened by name, computed once, learned out of fold, standardized on the training topics,
saved with the weights.
"""

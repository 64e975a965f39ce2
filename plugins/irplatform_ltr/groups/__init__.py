"""Groups of features, one a module."""

"""Comparison of systems over topics: tests, power, bounds, groups, ranks and plain words."""

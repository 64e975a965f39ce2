"""Speed and memory beside peers; `python -m benchmarks`, from the root of the project.

A package, and not only a folder, because some distributions install a `benchmarks` of their own.
"""

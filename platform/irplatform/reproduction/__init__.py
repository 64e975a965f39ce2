"""Results as data: the expected figures of commands, and a check whether they come out here.

Plugins ship TOML files of results through the hook `register_results`; `platform reproduce` runs
them, and the tables of the documentation are written from them.
"""

"""Results as data: what a command is expected to give, and whether it does here.

Plugins ship TOML files of results through the hook `register_results`; `platform reproduce` runs
them, and the tables of the documentation are written from them.
"""

"""Importers: one module per format, each reads a file and yields concepts and relations."""

"""Shared tasks: their rules as data, checks of submissions, repairs, and files to upload."""

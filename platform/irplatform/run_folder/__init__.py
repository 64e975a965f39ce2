"""The folder of a run: its metadata, its report, what it says that it holds."""

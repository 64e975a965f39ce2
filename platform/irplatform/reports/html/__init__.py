"""The report of a comparison as a page: one file that needs no network."""

"""Documents in the formats of files."""

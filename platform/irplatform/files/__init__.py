"""Files: read, written, digested, cached."""

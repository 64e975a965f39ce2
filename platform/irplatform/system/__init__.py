"""Files, formats, the cache, processes and the terminal."""

"""The page on which people judge the documents of a pool."""

"""The first stage: Lucene through Pyserini."""

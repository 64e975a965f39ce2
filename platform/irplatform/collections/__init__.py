"""Collections: documents, topics and relevance judgments, from files and ir_datasets."""

"""What to search and judge: documents, topics and relevance judgments."""

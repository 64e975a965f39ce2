"""Late interaction: a vector for each word of a text, compared word by word (ColBERT)."""

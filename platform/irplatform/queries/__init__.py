"""Single queries: searched, reranked, explained."""

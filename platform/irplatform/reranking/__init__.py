"""From candidates to a reranked run: training systems, scoring, mixing with the first stage."""

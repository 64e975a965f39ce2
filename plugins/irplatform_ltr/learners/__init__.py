"""Models of a score from features, each with the same three things: fit, score, save and load."""

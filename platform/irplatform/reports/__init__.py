"""Reports for people: tables of results, explanations, agreement."""

"""How well a judge agrees with others: on the grades of documents, and on the order of systems."""

"""How far judgments agree: on the order of systems, and on the grades of documents."""

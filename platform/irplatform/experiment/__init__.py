"""An experiment: settings become a plan; a run retrieves, learns, reranks and records."""

"""Methods that choose the documents of a pool: depth, priorities, strata, and those that learn."""

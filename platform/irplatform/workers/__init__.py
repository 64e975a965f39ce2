"""Work on several cores and machines."""

"""What people look at when a run is done: tables."""

"""`training`: list, show, launch and stop trainings, and read their logs."""

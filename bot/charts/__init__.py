"""Charts of alerts' queries: fetched and drawn in child processes, uploaded to the card's thread, shown on the card."""

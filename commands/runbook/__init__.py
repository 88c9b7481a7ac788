"""`runbook`: print a shipped runbook page."""

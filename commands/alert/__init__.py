"""`alert`: list alerts, acknowledge incidents, explain why an alert fires."""

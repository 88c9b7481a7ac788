"""What people do."""

"""`node`: list, show, cordon and uncordon nodes."""

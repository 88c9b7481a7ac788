"""`node`: list, show, cordon, drain and uncordon nodes."""

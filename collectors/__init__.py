"""Sources, the cluster cache and checks: what is, without conclusions."""

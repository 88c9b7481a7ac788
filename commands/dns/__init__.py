"""`dns`: show and scale the cluster's DNS."""

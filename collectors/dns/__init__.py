"""Facts about the cluster's DNS: its Deployment, what sets its replicas, and what requires them. Pure."""

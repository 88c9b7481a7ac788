"""Parts that a bare control plane lacks, as a client of the Kubernetes API: kubelets, add-ons and their controllers."""

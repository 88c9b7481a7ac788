"""A simulated GPU cluster: physics, exporters, kubelets, logs. The control plane is a separate server."""

"""This package is a simulated GPU cluster: physics, exporters, kubelets, logs. The control plane is not in it."""

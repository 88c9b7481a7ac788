"""This package is a simulated GPU cluster: physics, exporters, kubelets, log shipper and users. The control plane is not in it."""

"""Physics of the cluster: heat, hosts, trainings, DNS and storage. Pure functions of the state, no I/O, no clock."""

"""A simulated cluster: the world, its exporters and log shipper, the look-alikes, the scenarios."""

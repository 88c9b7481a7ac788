"""A cluster in a box: the world, its exporters and shipper, the look-alikes, the scenarios."""

"""This package is the physics: load, heat, clocks, trainings, hosts, names and storage. Pure: no client, no clock."""

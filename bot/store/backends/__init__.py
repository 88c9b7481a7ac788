"""Store back ends: what differs between the databases that can hold a store. One file for each, and their catalogue."""

"""Commands about any pod: what it is, why it does not run, its lines and stacks, and how it is removed."""

"""`plan`: confirm, show, cancel and undo plans."""

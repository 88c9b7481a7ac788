"""The command `rule doctor`: what each rule can see, and which of them people act on."""

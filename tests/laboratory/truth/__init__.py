"""The proof that a plan of Eos is true: its predictions against raw dumps of the engines."""

"""The proof that a plan of Eos is true: what it foretold against what raw dumps of the engines say happened."""

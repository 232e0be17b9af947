"""Faults at random times, and what must be true after each of them."""

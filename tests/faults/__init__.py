"""Drills by hand: services are killed, frozen and cut off under a crowd, and every acknowledged answer is counted."""

"""The client in its synchronous form, which `build.py` writes."""

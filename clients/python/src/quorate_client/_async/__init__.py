"""The client in its asynchronous form, from which `build.py` writes the other one."""

"""The REST interface: what managers, experts and researchers do on pages, for scripts, notebooks and pipelines."""

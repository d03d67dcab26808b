"""Training that is broken off and goes on."""

import pytest


class Killed(Exception):
    pass


def interrupt(train, run, *, step, **options):
    """Train into a run's folder until so many steps were taken, and break off."""

    def kill(said):
        if said.startswith(f"step {step} "):
            raise Killed

    with pytest.raises(Killed):
        train(run, say=kill, **options)


def is_same_after_an_interruption(train, folder, whole, *, step, **options):
    """Return whether a run that was interrupted ends with the losses and weights of one that wasn't."""
    interrupt(train, folder / "cut", step=step, **options)
    resumed = train(folder / "cut", say=lambda _: None, **options)
    weights = [(folder / name / "model.safetensors").read_bytes() for name in ("cut", "whole")]
    return resumed["losses"] == whole["losses"] and weights[0] == weights[1]

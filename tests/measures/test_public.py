"""The statistics as a library: what is public, and that its examples run."""

import doctest
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

import measures

MODULES = sorted(one.name for one in walk_packages(measures.__path__, "measures."))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_documentation_run(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_every_public_name_is_there_with_an_example():
    for name in measures.__all__:
        found = getattr(measures, name)
        assert found.__doc__, name
        if not isinstance(found, type):
            assert ">>>" in found.__doc__, name


def test_public_names_are_no_modules():
    assert not {name.rpartition(".")[2] for name in MODULES} & set(measures.__all__)
    with pytest.raises(AttributeError, match="no attribute 'median'"):
        measures.median


def test_the_room_needs_neither_django_nor_the_apps():
    code = (
        "import measures, sys; [getattr(measures, name) for name in measures.__all__];"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('django', 'celery', 'quality', 'config')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_judgments_reader_is_loaded_only_where_it_is_wanted():
    code = "import sys; from measures import strict_majority; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

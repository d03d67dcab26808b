"""The demo's ports: chosen once, held while it fills, kept for the tasks that open there."""

import socket

import pytest

from console.serving import start_child, wait_until_up
from replays.demo.ports import MARKETPLACE, PLATFORM, DemoPorts, PortTaken


@pytest.fixture
def first(monkeypatch):
    """Begin to look at ports that nothing else looks at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setattr("replays.demo.ports.FIRST", {PLATFORM: port, MARKETPLACE: port})
    return port


def test_two_demos_that_begin_together_take_different_ports(tmp_path, first):
    one, other = DemoPorts(tmp_path / "one"), DemoPorts(tmp_path / "other")
    taken = [one.hold(PLATFORM), other.hold(PLATFORM), one.hold(MARKETPLACE)]
    assert len(set(taken)) == 3
    one.release(), other.release()


def test_a_demo_keeps_its_ports_and_says_when_one_is_taken(tmp_path, first):
    before = DemoPorts(tmp_path / "ports")
    port = before.hold(PLATFORM)
    before.release()
    again = DemoPorts(tmp_path / "ports")
    assert again.hold(PLATFORM) == port
    with pytest.raises(PortTaken, match=f"port {port} is in use"):
        DemoPorts(tmp_path / "ports").hold(PLATFORM)
    again.release()


def test_a_server_that_ended_is_not_taken_for_another_one_at_its_address(first):
    child = start_child(["false"], {"PATH": "/usr/bin:/bin"})
    child.wait()
    with socket.create_server(("127.0.0.1", first)), pytest.raises(OSError, match="ended"):
        wait_until_up(f"127.0.0.1:{first}", child=child)

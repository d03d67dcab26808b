"""The demo's ports: chosen once, held while it fills, kept for the tasks that open there."""

import os
import socket

import pytest

from console.serving import address_of, listener_at, listener_from, start_child, wait_until_up, web_command
from replays.demo.ports import MARKETPLACE, PLATFORM, DemoPorts, PortTaken, port_of


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
    held = [one.hold(PLATFORM), other.hold(PLATFORM), one.hold(MARKETPLACE)]
    assert len({port_of(listener) for listener in held}) == 3
    for listener in held:
        listener.close()


def test_a_demo_keeps_its_ports_and_says_when_one_is_taken(tmp_path, first):
    with DemoPorts(tmp_path / "ports").hold(PLATFORM) as before:
        port = port_of(before)
    with DemoPorts(tmp_path / "ports").hold(PLATFORM) as again:
        assert port_of(again) == port
        with pytest.raises(PortTaken, match=f"port {port} is in use"):
            DemoPorts(tmp_path / "ports").hold(PLATFORM)


def test_a_port_stays_taken_while_its_server_is_away(first):
    """A server inherits the socket, so no other process gets the port while the server starts again."""
    with listener_from(first) as listener:
        for _ in range(2):
            child = start_child(web_command(f"fd://{listener.fileno()}"), dict(os.environ), (listener.fileno(),))
            wait_until_up(address_of(listener), child=child)
            child.kill()
            child.wait()
            with pytest.raises(OSError, match="in use"):
                listener_at(address_of(listener))


@pytest.mark.parametrize("bind", ["8000", "nowhere:8000x", "127.0.0.1:99999"])
def test_an_address_that_is_none_is_refused(bind):
    with pytest.raises(OSError, match=f"--bind (takes HOST:PORT|{bind})"):
        listener_at(bind)


def test_a_server_that_ended_is_not_taken_for_another_one_at_its_address(first):
    child = start_child(["false"], {"PATH": "/usr/bin:/bin"})
    child.wait()
    with socket.create_server(("127.0.0.1", first)), pytest.raises(OSError, match="ended"):
        wait_until_up(f"127.0.0.1:{first}", child=child)

"""A crowd by its own clock: who comes when, that it stops, and that it leaves servers alone when nothing is open."""

import threading
import time
from collections import Counter

import numpy as np
import pytest

from simulation.crowd import DAY, Crowd
from simulation.doors.market import Outcome
from simulation.people import Person


class Robot:
    """Someone who answers some items and then finds nothing."""

    def __init__(self, number, items, seconds=20.0, load=1.0):
        self.person = Person(1, number, 1.0, np.ones(2) / 2, load=load)
        self.left, self.each, self.seconds = items, seconds, 0.0
        self.looks = 0
        self.logged_in = 0
        self.busy = threading.Lock()

    def log_in(self):
        self.logged_in += 1

    def work(self):
        assert self.busy.acquire(blocking=False), "two threads were at one person"
        try:
            self.looks += 1
            if not self.left:
                return Outcome.NOTHING
            self.left -= 1
            self.seconds += self.each
            return Outcome.HANDED_IN
        finally:
            self.busy.release()


def test_everybody_comes_works_and_logs_in_once():
    robots = [Robot(number, 30) for number in range(20)]
    crowd = Crowd(robots, seed=1)
    assert crowd.run(lambda: not any(robot.left for robot in robots), seconds=30, look_every=0.01)
    assert crowd.outcomes[Outcome.HANDED_IN] == 20 * 30
    assert {robot.logged_in for robot in robots} == {1}
    assert 0 < crowd.days < 30


def test_without_work_a_crowd_leaves_servers_alone():
    robots = [Robot(number, 0) for number in range(500)]
    crowd = Crowd(robots, seed=2)
    begun = time.monotonic()
    assert not crowd.run(lambda: False, seconds=2.5, look_every=0.05)
    looks = sum(robot.looks for robot in robots)
    assert looks < 100 * (
        time.monotonic() - begun
    )  # without a pause they would look tens of thousands of times a second


def test_who_does_more_in_all_sits_longer():
    robots = [Robot(number, 10**6, load=4.0 if number < 20 else 0.5) for number in range(40)]
    crowd = Crowd(robots, seed=3, threads=2)
    crowd.run(lambda: crowd.outcomes.total() > 20_000, seconds=30, look_every=0.01)
    done = Counter({number: robot.looks for number, robot in enumerate(robots)})
    assert sum(done[number] for number in range(20)) > 2 * sum(done[number] for number in range(20, 40))


def test_an_answer_that_is_taken_back_at_the_very_end_is_given_again():
    robots, looks = [Robot(number, 10**6) for number in range(3)], []

    def until():
        looks.append(sum(robot.looks for robot in robots))
        if len(looks) <= 3:
            return len(looks) == 2  # it holds; once they have stopped, it doesn't
        return looks[-1] > looks[2] + 5

    assert Crowd(robots, seed=6, threads=2).run(until, seconds=30, look_every=0.01)
    assert looks[-1] > looks[2] + 5


def test_what_goes_wrong_is_raised_where_the_crowd_is_stopped():
    robot = Robot(0, 5)
    robot.log_in = lambda: (_ for _ in ()).throw(RuntimeError("could not log in"))
    with pytest.raises(RuntimeError, match="could not log in"):
        Crowd([robot], seed=4).run(lambda: False, seconds=10)


def test_people_come_by_day_rather_than_by_night():
    robots = [Robot(number, 1) for number in range(2_000)]
    hours = Counter(int(due.at % DAY // 3600) for due in Crowd(robots, seed=5)._due)
    assert sum(hours[hour] for hour in range(8, 22)) > 4 * sum(hours[hour] for hour in range(6))

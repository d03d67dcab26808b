"""What can be had without training a model: runs that anyone can make again, to hold systems against."""

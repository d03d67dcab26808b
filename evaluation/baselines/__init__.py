"""What can be had without training a model: runs that anybody can make again, to hold systems against."""

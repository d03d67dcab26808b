"""The metrics of the NLPCC 2017 shared task on open domain question answering (section 3)."""

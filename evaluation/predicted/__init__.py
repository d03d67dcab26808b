"""Systems as additional annotators: experts judge their answers among people's, without knowing whose they are."""

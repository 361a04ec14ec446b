"""`lnorm quiz`: items, their generation and grading, the loop, sheets for teachers."""

"""`lnorm check`: the user's own layer_norm in a separate process, against the conformance cases."""

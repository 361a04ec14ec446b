"""`lnorm explain`: topics of prose whose numbers are computed when they are shown."""

"""The command line: signatures, exit codes, and the one place where errors become messages."""

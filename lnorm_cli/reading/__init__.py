"""Text, files and standard input to exact numbers."""

from lnorm_cli.exact import text as exact_text
from lnorm_cli.reading.files import Arrays, read_arrays
from lnorm_cli.reading.grammar import parse_number
from lnorm_cli.reading.lists import join_arguments, parse_vector

__all__ = ["Arrays", "exact_text", "join_arguments", "parse_number", "parse_vector", "read_arrays"]

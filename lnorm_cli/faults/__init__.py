"""The catalogue of mistakes, and the diagnosis that names them."""

from lnorm_cli.faults.answer import Typed, parse_answer, typed_number
from lnorm_cli.faults.catalogue import Fault, catalogue, fault, wrong_spec
from lnorm_cli.faults.diagnose import diagnose, diagnose_arrays
from lnorm_cli.faults.diagnosis import Diagnosis

__all__ = [
    "Diagnosis",
    "Fault",
    "Typed",
    "catalogue",
    "diagnose",
    "diagnose_arrays",
    "fault",
    "parse_answer",
    "typed_number",
    "wrong_spec",
]

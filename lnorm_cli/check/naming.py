"""Placeholder until the catalogue is there."""

from lnorm_cli.check.report import Report


def name_faults(report: Report) -> Report:
    return report


def sentences(fault: str) -> tuple[str, str]:
    return "", ""

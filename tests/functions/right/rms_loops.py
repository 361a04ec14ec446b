"""RMSNorm on one row of plain numbers."""


def rms_norm(x, gamma, eps):
    root = (sum(value * value for value in x) / len(x) + eps) ** 0.5
    return [g * value / root for value, g in zip(x, gamma)]

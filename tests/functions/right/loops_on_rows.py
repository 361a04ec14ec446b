"""A list of rows, never a single row."""


def layer_norm(rows, g, b, epsilon):
    result = []
    for row in rows:
        mean = sum(row) / len(row)
        deviations = [value - mean for value in row]
        root = (sum(d * d for d in deviations) / len(row) + epsilon) ** 0.5
        result.append([d / root * gain + shift for d, gain, shift in zip(deviations, g, b)])
    return result

"""Right values in torch, and no gradient comes through."""

import torch


@torch.no_grad()
def layer_norm(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias

"""Gradients of the user's code, where its framework differentiates. Runs in the worker."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from lnorm_cli.check import arrays
from lnorm_cli.check.signature import BETA, GAMMA
from lnorm_cli.check.target import Target


def gradients(target: Target, framework: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """d/dx, d/dgamma and d/dbeta of sum(weights * result), each flat; None where none arrives."""
    if framework == arrays.TORCH:
        return {"gradients": _torch(target, request)}
    if framework == arrays.JAX:
        return {"gradients": _jax(target, request)}
    return {"gradients": None}


def _torch(target: Target, request: Mapping[str, Any]) -> dict[str, list[float] | None]:
    width = request["shape"][-1]
    leaves = {"x": arrays.build(arrays.TORCH, request["x"], request["shape"], request["dtype"])}
    for name in ("gamma", "beta"):
        leaves[name] = arrays.build(arrays.TORCH, request[name], (width,), request["dtype"])
    for leaf in leaves.values():
        leaf.requires_grad_()
    function, parameters = target.prepare({**leaves, "eps": request["eps"]}, width)
    result = function(leaves["x"])
    weights = arrays.build(arrays.TORCH, request["weights"], request["shape"], request["dtype"])
    if result.requires_grad:
        (result * weights).sum().backward()
    asked = {"x"} | ({GAMMA, BETA} & target.taken())
    return {
        name: None if leaf.grad is None else leaf.grad.flatten().tolist()
        for name, leaf in (leaves | parameters).items()
        if name in asked
    }


def _jax(target: Target, request: Mapping[str, Any]) -> dict[str, list[float] | None]:
    jax = importlib.import_module("jax")
    x = arrays.build(arrays.JAX, request["x"], request["shape"], request["dtype"])
    weights = arrays.build(arrays.JAX, request["weights"], request["shape"], request["dtype"])
    width = request["shape"][-1]
    given = {name: arrays.build(arrays.JAX, request[name], (width,), request["dtype"]) for name in ("gamma", "beta")}

    def loss(value: Any) -> Any:
        function, _ = target.prepare({**given, "eps": request["eps"]}, width)
        return (function(value) * weights).sum()

    return {"x": [float(element) for element in jax.grad(loss)(x).reshape(-1)]}

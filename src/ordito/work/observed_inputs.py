"""Whether an input of an operation has another value than when the plan was made: a value that only the running system
knows, and that a plan cannot tell beforehand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.model.operation import Operation

DIGEST_LENGTH = 32


def observed(evaluator: Evaluator, operation: Operation, node: str, instance: str, key: Callable[[], bytes]) -> str:
    """A digest of the values that the inputs of a node's operation have for one of its instances now; sensitive ones
    are represented by keyed digests."""
    context = Context(node=node, instance=instance)
    values = {i.name: _value(evaluator, i.value, context) for i in operation.inputs.values() if i.has_value}

    def hidden(value: object) -> object:
        if isinstance(value, Sensitive):
            return ["sensitive", value.digest(key())]
        raise NotImplementedError(f"objects of type {type(value).__name__} have no digest")

    encoded = msgspec.json.encode(values, enc_hook=hidden, order="deterministic")
    return hashlib.sha256(encoded).hexdigest()[:DIGEST_LENGTH]


def _value(evaluator: Evaluator, value: object, context: Context) -> object:
    try:
        found = evaluator.evaluate(value, context)  # type: ignore[arg-type]  # it is what a template says
    except EvaluationError:
        return None  # The operation itself tells of errors.
    return ["nothing"] if isinstance(found, Nothing) else found

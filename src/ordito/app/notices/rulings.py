"""What rules of others say to what triggers want to do (R-12-16)."""

from __future__ import annotations

import msgspec

from ordito.base.sensitive import shown
from ordito.executors.policy_rules import ask_rule, rule_for
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.model.imperative import Policy
from ordito.syntax.expressions import Value
from ordito.work.artifact_workflows import snapshot_data
from ordito.work.notices import Notice
from ordito.work.triggers import Decision

FORMAT = "ordito.policy-rule/1"


def ruled(decision: Decision, evaluator: Evaluator, notice: Notice) -> Decision:
    """The decision, after the rule for the policy's type was asked, where there is one: nothing acts that it does not
    permit. What does not act anyhow is not asked about."""
    policy = evaluator.service.policies[decision.policy]
    kind = rule_for(policy.kinds) if decision.acts else ""
    if not kind:
        return decision
    ruling = ask_rule(kind, _call(policy, decision, evaluator, notice))
    if ruling.acts:
        return decision
    said = ruling.said or f"the rule of {kind} says no"
    return msgspec.structs.replace(decision, acts=False, said=said)


def _call(policy: Policy, decision: Decision, evaluator: Evaluator, notice: Notice) -> dict[str, object]:
    """What a rule is given: plain data, and of sensitive values only that they are."""
    return {
        "format": FORMAT,
        "policy": policy.name,
        "type": policy.type,
        "properties": {name: _value(evaluator, value) for name, value in policy.properties.items()},
        "targets": list(policy.targets),
        "nodes": list(policy.nodes),
        "trigger": decision.trigger,
        "event": notice.event,
        "entity": notice.entity,
        "at": notice.at,
        "values": shown(dict(notice.values)),
        "snapshot": snapshot_data(evaluator.snapshot),
    }


def _value(evaluator: Evaluator, value: Value) -> object:
    try:
        found = evaluator.evaluate(value, Context())
    except EvaluationError:
        return None
    return None if isinstance(found, Nothing) else shown(found)

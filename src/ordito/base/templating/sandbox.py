"""Template strings, evaluated in a sandbox with limits: only the attributes named here, no endless loop, no text
without limit.

Importing this costs start-up time, so it is imported only where a template is found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from types import BuiltinMethodType
from typing import Any, TypeVar, cast

from jinja2 import StrictUndefined, Template, TemplateError, Undefined, nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import SandboxedEnvironment

from ordito.base.diagnostics import suggestion
from ordito.base.templating.filters import Budget, OverBudget, filters, finite, text_of, weight

T = TypeVar("T")

MOST_CHARACTERS = 64 * 1024
"""The longest template."""
MOST_DEPTH = 60
"""How deep its expressions and blocks may be nested."""
MOST_OUTPUT = 1024 * 1024
"""The longest text that a template gives."""
LONGEST_RANGE = 10_000
LARGEST_POWER = 4_096
"""How many bits a whole number may have that comes from a multiplication or a power."""

STATEMENTS = (nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign)
EXPRESSIONS = (
    *(nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.CondExpr),
    *(nodes.Filter, nodes.Test, nodes.Getitem, nodes.Getattr, nodes.Slice, nodes.Concat, nodes.Compare, nodes.Operand),
    *(nodes.And, nodes.Or, nodes.Not, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod),
    *(nodes.Pow, nodes.Neg, nodes.Pos, nodes.Call),
)
TESTS = (
    *("defined", "undefined", "none", "boolean", "true", "false", "integer", "float", "number", "string", "mapping"),
    *("sequence", "iterable", "odd", "even", "divisibleby", "in", "eq", "equalto", "ne", "lt", "le", "gt", "ge"),
    *("==", "!=", "<", "<=", ">", ">=", "lessthan", "greaterthan", "lower", "upper"),
)
METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        {
            *("lower", "upper", "title", "capitalize", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix"),
            *("startswith", "endswith", "split", "rsplit", "splitlines", "find", "rfind", "count"),
            *("isdigit", "isalpha", "isalnum"),
        }
    ),
    dict: frozenset({"get", "items", "keys", "values"}),
    list: frozenset({"index", "count"}),
}
LOOP = frozenset({"index", "index0", "revindex", "revindex0", "first", "last", "length", "previtem", "nextitem"})


class Unevaluated(Exception):
    """A template has no value; the message says why.

    ``hint`` says what to do, ``line`` is the line in the template (from 1; 0 where it is not known). With ``reported``
    the reason was told where it arose, and is not told again.
    """

    def __init__(self, message: str, hint: str = "", *, reported: bool = False, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.reported = reported
        self.line = line


class LookedUpValues:
    """Values that are looked up when a template uses them: ``name`` is what the template calls them all, ``what`` what
    messages call each."""

    def __init__(
        self, name: str, what: str, names: Callable[[], Collection[str]], get: Callable[[str], object]
    ) -> None:
        self.name = name
        self.what = what
        self.names = names
        self.get = get

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def absent(self, name: str) -> str:
        """The message for a name that does not exist."""
        return f'there is no {self.what} "{name}"; {suggestion(name, self.names())}'.rstrip("; ")


class Absent:
    """The value of a name that has none now; it tells why where a template uses it."""

    def __init__(self, why: str) -> None:
        self.why = why


class Sandbox:
    """Evaluates template strings with the names that are given."""

    def __init__(self, names: Mapping[str, object]) -> None:
        self._budget = Budget()
        self._environment = _Environment(self._budget)
        self._names = {
            name: self._environment.undefined(hint=value.why) if isinstance(value, Absent) else value
            for name, value in names.items()
        }

    def value(self, text: str) -> object:
        """The value of a template: that of its expression where it is one expression and nothing else, else a text.
        A template may use a name whose value is a template, too. Raises ``Unevaluated``."""
        return self._bounded(lambda: self._value(text))

    def text(self, text: str) -> str:
        """The value of a template, always as a text. Raises ``Unevaluated``, with the line."""
        return self._bounded(lambda: self._text(self._rewritten(text)))

    def _bounded(self, work: Callable[[], T]) -> T:
        """Do some work within the budget. Raises ``Unevaluated`` for whatever goes wrong."""
        self._budget.enter()
        try:
            return work()
        except OverBudget as error:
            hint = "make the template smaller, or compute the value elsewhere"
            raise Unevaluated(str(error), hint, line=_line(error)) from error
        except UndefinedError as error:
            hint = f"known here are {', '.join(self._names)}"
            raise Unevaluated(_sentence(error), hint, line=_line(error)) from error
        except SecurityError as error:
            hint = "only what docs/ensemble.md names can be used"
            raise Unevaluated(_sentence(error), hint, line=_line(error)) from error
        except (TemplateError, AttributeError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise Unevaluated(_sentence(error), line=_line(error)) from error
        except RecursionError as error:
            raise Unevaluated(_sentence(error)) from error
        except SyntaxError as error:
            raise Unevaluated("it is nested too deep") from error
        finally:
            self._budget.leave()

    def _rewritten(self, text: str) -> nodes.Template:
        """The tree of a template, with what counts in it."""
        if len(text) > MOST_CHARACTERS:
            raise Unevaluated(f"it has more than {MOST_CHARACTERS:,} characters", "put the text into a file")
        tree = self._environment.parse(text)
        _TemplateRewriting(self._environment).rewrite(tree)
        return tree

    def _value(self, text: str) -> object:
        tree = self._rewritten(text)
        body = tree.body
        if len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1:
            (only,) = body[0].nodes
            if not isinstance(only, nodes.TemplateData):
                return self._native(only)
        return self._text(tree)

    def _text(self, tree: nodes.Template) -> str:
        template = self._environment.from_string(tree)
        context = template.new_context(self._names)
        pieces: list[str] = []
        length = 0
        for piece in template.root_render_func(context):
            pieces.append(piece)
            length += len(piece)
            if length > MOST_OUTPUT:
                raise OverBudget(f"it gives a text of more than {MOST_OUTPUT:,} characters")
        return _encodable("".join(pieces))

    def _native(self, expression: nodes.Expr) -> object:
        assign = nodes.Assign(nodes.Name("result", "store", lineno=1), expression, lineno=1)
        template = self._environment.from_string(nodes.Template([assign], lineno=1))
        context = template.new_context(self._names)
        for _ in template.root_render_func(context):
            pass
        found = context.vars["result"]
        if isinstance(found, Undefined):
            str(found)  # Says what is not there.
        if isinstance(found, LookedUpValues):
            raise Unevaluated(f"{found.name} alone is not a value", f"name one of them: {found.name}.NAME")
        self._budget.spend(weight(found))
        if isinstance(found, str) and len(found) > MOST_OUTPUT:
            raise OverBudget(f"it gives a text of more than {MOST_OUTPUT:,} characters")
        return _data(found)


def _line(error: Exception) -> int:
    """The line of a template in which something went wrong; 0 where that is not known."""
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    found, at = 0, error.__traceback__
    while at is not None:
        # What jinja compiles knows the template that it was made of.
        template = at.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            found = template.get_corresponding_lineno(at.tb_lineno)
        at = at.tb_next
    return found


def _data(value: object) -> object:
    """A value as plain data. Raises ``Unevaluated`` for anything else."""
    if isinstance(value, str):
        return _encodable(value)
    if value is None or isinstance(value, bool | int | float):
        return finite(value) if isinstance(value, float) else value
    if isinstance(value, Mapping):
        return {text_of(key): _data(item) for key, item in value.items()}
    if isinstance(value, Undefined):
        str(value)
    if isinstance(value, Iterable) and not isinstance(value, LookedUpValues):
        return [_data(item) for item in value]
    raise Unevaluated("this is not a value", "end it with a name, a member, or a filter")


def _encodable(text: str) -> str:
    """A text that a file can hold: an escape may have made half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Unevaluated("its text holds half of a surrogate pair", "write the whole character") from error
    return text


def _sentence(error: Exception) -> str:
    said = str(error).strip().rstrip(".") or type(error).__name__
    if isinstance(error, TemplateSyntaxError) and error.lineno > 1:
        return f"{said} (in its line {error.lineno})"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, TypeError) and " argument" in said:
        return "a filter, a test or a method is given arguments that it does not take"
    return said


class _TemplateRewriting:
    """Holds a template to what may stand in it, and puts the counting into what could take long."""

    def __init__(self, environment: _Environment) -> None:
        self._environment = environment

    def rewrite(self, root: nodes.Node) -> None:
        """Rewrite in place. Raises ``Unevaluated``, with the line of what has no place in a template."""
        waiting: list[tuple[nodes.Node, int]] = [(root, 0)]
        while waiting:
            node, depth = waiting.pop()
            if depth > MOST_DEPTH:
                raise Unevaluated(f"it is nested deeper than {MOST_DEPTH} levels", "compute the parts before")
            try:
                self._check(node)
            except Unevaluated as wrong:
                wrong.line = node.lineno
                raise
            waiting.extend((child, depth + 1) for child in node.iter_child_nodes())
            self._count(node)

    def _check(self, node: nodes.Node) -> None:
        if not isinstance(node, STATEMENTS + EXPRESSIONS) or (isinstance(node, nodes.For) and node.recursive):
            kind = type(node).__name__.lower()
            raise Unevaluated(f'"{kind}" is not allowed here', "there are {{ }}, {% if %}, {% for %} and {% set %}")
        if isinstance(node, nodes.CondExpr) and node.expr2 is None:
            raise Unevaluated("an if without an else may have no value", "write both values: A if B else C")
        if isinstance(node, nodes.Const) and isinstance(node.value, float):
            finite(node.value)
        if isinstance(node, nodes.Filter) and node.name not in self._environment.filters:
            hint = suggestion(node.name, _public(self._environment.filters)) or "docs/ensemble.md names the filters"
            raise Unevaluated(f'there is no filter "{node.name}"', hint)
        if isinstance(node, nodes.Test) and node.name not in self._environment.tests:
            hint = suggestion(node.name, self._environment.tests) or "docs/ensemble.md names the tests"
            raise Unevaluated(f'there is no test "{node.name}"', hint)

    def _count(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.For):
            # A pass costs as much as there is in the loop.
            size = sum(1 for _ in node.find_all(nodes.Node))
            node.iter = _through("_counted", cast(nodes.Expr, node.iter), size)
        elif isinstance(node, nodes.Compare):
            node.expr = _through("_weighed", node.expr)
            for operand in node.ops:
                operand.expr = _through("_weighed", operand.expr)
        elif isinstance(node, nodes.Pair):
            node.key = _through("_weighed", node.key)
        elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
            node.node = _through("_weighed", node.node)
        for field, value in list(node.iter_fields()):
            if isinstance(value, nodes.Concat):
                setattr(node, field, _joined(value))
            elif isinstance(value, list):
                value[:] = [_joined(item) if isinstance(item, nodes.Concat) else item for item in value]


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list | tuple) else "this value"


def _public(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


def _through(name: str, expression: nodes.Expr, *arguments: int) -> nodes.Filter:
    if isinstance(expression, nodes.Concat):
        expression = _joined(expression)
    given = [nodes.Const(argument, lineno=expression.lineno) for argument in arguments]
    return nodes.Filter(expression, name, given, [], None, None, lineno=expression.lineno)


def _joined(concat: nodes.Concat) -> nodes.Filter:
    return _through("_joined", nodes.List(concat.nodes, lineno=concat.lineno))


class _Environment(SandboxedEnvironment):
    """A sandbox in which only what is named can be reached, and all work is counted."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "**", "%"})

    def __init__(self, budget: Budget) -> None:
        super().__init__(
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            finalize=self._text,
            optimized=False,
            cache_size=0,
            autoescape=False,
        )
        self.budget = budget
        self.filters = dict(filters(budget, self.filters))
        self.tests = {name: _charged(cast(Callable[..., Any], self.tests[name]), budget) for name in TESTS}
        self.globals = {"range": self._range}

    def _text(self, value: Any) -> str:
        self.budget.spend(weight(value))
        return text_of(value)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A member by its name: an entry of a map before one of its methods."""
        return self._member(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """An entry by its key or index."""
        if isinstance(argument, str) or isinstance(obj, LookedUpValues | Undefined):
            return self._member(obj, str(argument))
        self.budget.spend(weight(argument))
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(hint=f"there is no entry {argument!r}")

    def _member(self, obj: Any, name: str) -> Any:
        if isinstance(obj, Undefined):
            str(obj)  # Says what is not there.
        if isinstance(obj, LookedUpValues):
            return obj.get(name) if name in obj else self.undefined(hint=obj.absent(name))
        if isinstance(obj, Mapping) and name in obj:
            return obj[name]
        if isinstance(obj, LoopContext) and name in LOOP:
            return getattr(obj, name)
        if any(isinstance(obj, kind) and name in methods for kind, methods in METHODS.items()):
            return getattr(obj, name)
        if isinstance(obj, Mapping):
            return self.undefined(hint=f'there is no entry "{name}"; {suggestion(name, map(str, obj))}')
        return self.undefined(hint=f'there is no "{name}" of {_kind(obj)}')

    def is_safe_callable(self, obj: Any) -> bool:
        """Whether something may be called: the few methods that are named, and ``range``."""
        if obj == self._range:
            return True
        owner = obj.__self__ if isinstance(obj, BuiltinMethodType) else None
        return any(isinstance(owner, kind) and obj.__name__ in methods for kind, methods in METHODS.items())

    def call(self, context: Context, obj: Any, /, *arguments: Any, **named: Any) -> Any:
        """Call something that may be called."""
        if isinstance(obj, Undefined):
            str(obj)
        if not self.is_safe_callable(obj):
            raise SecurityError("this cannot be called")
        # What jinja tells about the loops around the call is for its own macros.
        named = {name: value for name, value in named.items() if not name.startswith("_")}
        self.budget.spend(weight(getattr(obj, "__self__", None)) + weight(arguments))
        found = obj(*arguments, **named)
        self.budget.spend(weight(found))
        return found

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute, unless what comes of it is too large."""
        self.budget.spend(weight(left) + weight(right))
        if operator == "%" and isinstance(left, str):
            raise SecurityError("texts are not formatted with %: put them together with ~")
        if operator == "*":
            self._check_product(left, right)
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            self._check_bits(left.bit_length() * right)
        return self.binop_table[operator](left, right)

    def _check_product(self, left: Any, right: Any) -> None:
        if isinstance(left, int) and isinstance(right, int):
            self._check_bits(left.bit_length() + right.bit_length())
        for one, other in ((left, right), (right, left)):
            if isinstance(one, str | list | tuple) and isinstance(other, int):
                self.budget.spend(weight(one) * max(other, 0))

    def _check_bits(self, bits: int) -> None:
        if bits > LARGEST_POWER:
            raise OverBudget("it computes a number that is too large")

    def _range(self, *arguments: int) -> range:
        found = range(*arguments)
        if len(found) > LONGEST_RANGE:
            raise OverBudget(f"range() goes over more than {LONGEST_RANGE:,} numbers")
        return found


def _charged(test: Callable[..., Any], budget: Budget) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        budget.spend(weight(arguments))
        return test(*arguments)

    run.__dict__.update(getattr(test, "__dict__", {}))
    return run

"""``ctx`` as scripts know it, made of the document of their operation."""

from __future__ import annotations

import copy
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from cloudify import overlay
from cloudify.exceptions import HttpException, NonRecoverableError

ENTITIES = {"instance": "SELF", "source": "SOURCE", "target": "TARGET"}


class RuntimeProperties(MutableMapping):  # type: ignore[type-arg]
    """The runtime properties of an instance. What is changed in them, also inside of a value, is kept: at once where a
    key is set or removed, else at the end of the process."""

    def __init__(self, known: dict[str, Any], entity: str) -> None:
        self._known = known
        self._entity = entity
        self._seen: tuple[int, int] | None = None
        self._values: dict[str, Any] = {}
        self._kept: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        return self._read()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._read()[key] = value
        self.keep()

    def __delitem__(self, key: str) -> None:
        del self._read()[key]
        self.keep()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._read()))

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

    def copy(self) -> dict[str, Any]:
        """A map of its own with the same values."""
        return dict(self._read())

    def keep(self) -> None:
        """Write down what has changed since the last time."""
        if self._seen is None:
            return
        changed = {k: v for k, v in self._values.items() if k not in self._kept or self._kept[k] != v}
        gone = [key for key in self._kept if key not in self._values]
        if not changed and not gone:
            return
        for key, value in changed.items():
            _check(key, value)
        if self._entity == "":
            raise NonRecoverableError("the runtime properties of a related instance can only be read")
        overlay.set_attributes(self._entity, {**changed, **dict.fromkeys(gone)})
        self._kept = copy.deepcopy(self._values)
        self._seen = overlay.version()

    def _read(self) -> dict[str, Any]:
        """The present values, with what other processes of the operation have changed."""
        version = overlay.version()
        if self._seen != version:
            mine = {k: v for k, v in self._values.items() if k not in self._kept or self._kept[k] != v}
            values = dict(self._known)
            for key, value in overlay.changes().get(overlay.ATTRIBUTES, {}).get(self._entity, {}).items():
                if value is None:
                    values.pop(key, None)
                else:
                    values[key] = value
            # A value that is kept is the same object as before: the script may hold it, and change it later.
            self._values = {
                k: self._values[k] if self._kept.get(k) == v and k in self._values else v for k, v in values.items()
            }
            self._kept = copy.deepcopy(values)
            self._values.update(mine)
            self._seen = version
        return self._values


def _check(key: str, value: Any) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NonRecoverableError("the runtime property {} cannot be kept: {}".format(key, error)) from None


class Thing:
    """Something with names, which the words of ``ctx`` lead through."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, **names: Any) -> None:
        self.__dict__.update(names)

    def __repr__(self) -> str:
        return "<{}>".format(", ".join(sorted(n for n in self.__dict__ if not n.startswith("_"))))


class Instance(Thing):
    """A node instance."""

    def __init__(self, about: dict[str, Any], entity: str) -> None:
        super().__init__(id=about["id"], index=about["index"])
        self._host_ip = about["host_ip"]
        self._related = about.get("relationships", [])
        self.runtime_properties = RuntimeProperties(about["runtime_properties"], entity)

    @property
    def host_ip(self) -> Any:
        """The address of the host that it is on."""
        if not self._host_ip:
            raise NonRecoverableError(
                "the host of {} has no address: neither a runtime property nor a property ip".format(self.id)
            )
        return self._host_ip

    @property
    def relationships(self) -> list[Thing]:
        """What it is related with."""
        return [
            Thing(
                type=one["type"],
                type_hierarchy=one["type_hierarchy"],
                properties=one["properties"],
                target=Thing(node=Thing(**one["target"]["node"]), instance=Instance(one["target"]["instance"], "")),
            )
            for one in self._related
        ]

    def update(self, *_: Any, **__: Any) -> None:
        """Keep what has changed. It is seen by other operations when this one has ended."""
        self.runtime_properties.keep()

    def refresh(self, *_: Any, **__: Any) -> None:
        """Does nothing: nobody else changes it meanwhile."""


class Operation(Thing):
    """The operation that runs."""

    def retry(self, message: Any = None, retry_after: Any = None) -> Any:
        """Say that it is to be tried again."""
        return retry(message, retry_after)


def retry(message: Any = None, retry_after: Any = None) -> None:
    """Say that the operation is to be tried again, after so many seconds."""
    after = None if retry_after in (None, "") else float(retry_after)
    overlay.say_end(overlay.AGAIN, {"message": str(message or ""), "after": after})


class Logger(logging.Logger):
    """Writes what it is told into the output of the operation."""

    def __init__(self) -> None:
        super().__init__("ctx", logging.DEBUG)
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        self.addHandler(handler)


class Context:
    """``ctx``: what is known of the operation that runs, and what it can say and change."""

    def __init__(self) -> None:
        self._document = overlay.document()
        self.logger = Logger()
        document = self._document
        self.operation = Operation(**document["operation"])
        self.deployment = Thing(**document["deployment"])
        self.blueprint = Thing(**document["blueprint"])
        self.plugin = Thing(name="script", prefix="", workdir=os.getcwd(), package_name="script", properties={})
        self.execution_id = document["execution_id"]
        self.workflow_id = document["workflow_id"]
        self.tenant_name = "default_tenant"
        self.bootstrap_context: dict[str, Any] = {}
        self.provider_context: dict[str, Any] = {}
        self._ends = {
            side: Thing(
                node=Thing(**document[side]["node"]),
                instance=Instance(document[side]["instance"], entity) if document[side]["instance"] else None,
            )
            for side, entity in ENTITIES.items()
            if side in document
        }

    @property
    def type(self) -> str:
        """What the operation is for."""
        return "node-instance" if "instance" in self._ends else "relationship-instance"

    @property
    def node(self) -> Any:
        """The node of the operation."""
        return self._end("instance", "node").node

    @property
    def instance(self) -> Any:
        """The node instance of the operation."""
        return self._end("instance", "instance").instance

    @property
    def source(self) -> Any:
        """The source of the relationship of the operation."""
        return self._end("source", "source")

    @property
    def target(self) -> Any:
        """The target of the relationship of the operation."""
        return self._end("target", "target")

    @property
    def capabilities(self) -> dict[str, Any]:
        """The runtime properties of what the instance is related with, by instance."""
        return {
            one.target.instance.id: one.target.instance.runtime_properties.copy() for one in self.instance.relationships
        }

    def _end(self, side: str, asked: str) -> Any:
        if side not in self._ends:
            known = "source and target" if side == "instance" else "node and instance"
            raise NonRecoverableError("there is no ctx.{} in a {} operation: use {}".format(asked, self.type, known))
        return self._ends[side]

    # What it can say.

    def retry_operation(self, message: Any = None, retry_after: Any = None) -> None:
        """Say that the operation is to be tried again."""
        retry(message, retry_after)

    def abort_operation(self, message: Any = None) -> None:
        """Say that the operation has failed for good."""
        overlay.say_end(overlay.NEVER, str(message or "it has been aborted"))

    def returns(self, value: Any) -> Any:
        """Set the result of the operation."""
        _check("result", value)
        overlay.give_result(value, polls=self._document.get("polls", False))
        return value

    def send_event(self, event: Any) -> None:
        """Tell whoever follows the job."""
        self.logger.info("%s", event)

    # The files of the blueprint.

    def get_resource(self, path: str) -> bytes:
        """The content of a file of the blueprint."""
        with open(_resource(path), "rb") as file:
            return file.read()

    def get_resource_and_render(self, path: str, template_variables: Any = None) -> bytes:
        """The content of a file of the blueprint, filled as a template."""
        from cloudify.rendering import rendered

        text = self.get_resource(path).decode("utf-8")
        values = {"ctx": self, **(template_variables or {})}
        return bytes(rendered(text, values, path), "utf-8")

    def download_resource(self, path: str, target_path: Any = None) -> str:
        """Copy a file of the blueprint; returns where it is."""
        place = _place(path, target_path)
        shutil.copyfile(_resource(path), place)
        return place

    def download_resource_and_render(self, path: str, target_path: Any = None, template_variables: Any = None) -> str:
        """Copy a file of the blueprint, filled as a template; returns where it is."""
        if isinstance(target_path, dict) and template_variables is None:
            target_path, template_variables = None, target_path
        content = self.get_resource_and_render(path, template_variables)
        place = _place(path, target_path)
        with open(place, "wb") as file:
            file.write(content)
        return place

    def keep(self) -> None:
        """Write down all runtime properties that have changed."""
        for end in self._ends.values():
            if end.instance is not None:
                end.instance.runtime_properties.keep()

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the operation."""
        found: dict[str, Any] = self._document["inputs"]
        return found


def _resource(path: str) -> str:
    inside = os.path.normpath(str(path).lstrip("/"))
    place = os.path.join(os.environ.get(overlay.SERVICE, ""), inside)
    if inside.startswith("..") or not os.path.isfile(place):
        raise HttpException("{} is no file of the blueprint".format(path), 404)
    return place


def _place(path: str, target_path: Any) -> str:
    name = os.path.basename(str(path))
    if not target_path:
        return os.path.join(tempfile.mkdtemp(prefix="ctx-"), name)
    place = str(target_path)
    return os.path.join(place, name) if os.path.isdir(place) else place

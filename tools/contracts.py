"""Contract types of the floor plan that import-linter does not bring along; `pyproject.toml` names them."""

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output
from importlinter.contracts.forbidden import ForbiddenContract


class FrontDoors(Contract):
    """A room's `__init__` is its front door, for the rooms above; whoever lives inside does not go through it.

    A module must not import a package that it lies in, for then what it sees depends on how far the package's
    `__init__` has come. The outermost package is exempt, provided that its `__init__` imports nothing of the project.
    """

    type_name = "front_doors"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        roots = self.session_options["root_packages"]
        wrong = [
            (importer, imported)
            for importer in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if (imported not in roots and importer.startswith(imported + "."))
            or (importer in roots and imported.startswith(importer + "."))
        ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong, "graph": graph})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["wrong"]:
            details = check.metadata["graph"].get_import_details(importer=importer, imported=imported)
            lines = ", ".join(f"l.{detail['line_number']}" for detail in details)
            output.print_error(f"{importer} must not import {imported} ({lines}).")
        output.print_error("Import the module that defines the name instead.")
        output.new_line()


class PureRooms(ForbiddenContract):
    """A `forbidden` contract that also names rooms which are yet to be built: what does not exist is passed over."""

    type_name = "pure_rooms"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        # import-linter declares options as fields of the class, and puts what it has read into the instance.
        options = vars(self)
        options["source_modules"] = {room for room in options["source_modules"] if room.expression in graph.modules}
        return super().check(graph, verbose)

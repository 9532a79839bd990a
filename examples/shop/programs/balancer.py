"""The shop's load balancer: hands each request to the next member of a list.

The list is a file with a line for each member, its name and its address. It is short, and read at every request, so a
change of it holds from the next request on and touches none that is under way.
"""

import itertools
from http.client import HTTPException
from pathlib import Path

from http_service import Reply, Request, Unreachable, begin, send, serve, text


class Balancer:
    def __init__(self, members: Path) -> None:
        self.members = members
        self.turns = itertools.count()

    def __call__(self, request: Request) -> Reply:
        for url in self.addresses():
            try:
                return send(url, request)
            except Unreachable:
                # It has not seen the request, so another one may have it.
                continue
            except (OSError, HTTPException) as error:
                # It may have written what it was sent, so nobody else is asked to; reading again does no harm.
                if request.method != "GET":
                    return text(502, f"{url} broke off: {error}")
        return text(503, "there is no web server to hand this to")

    def addresses(self) -> list[str]:
        """Where to try, in this order: the member whose turn it is, then those after it."""
        try:
            lines = self.members.read_text().splitlines()
        except FileNotFoundError:
            return []
        if not lines:
            return []
        first = next(self.turns) % len(lines)
        return [line.split()[1] for line in lines[first:] + lines[:first]]


if __name__ == "__main__":
    options = begin("The shop's load balancer.", needs="members")
    serve(options, Balancer(Path(options.members)))

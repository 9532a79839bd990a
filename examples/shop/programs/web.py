"""A web server of the shop: shows the records of the API as a page with a form, and passes JSON requests on to it.

GET /                the page
POST /               what its form sends: text=some+words
GET, POST /records   as the API, and every answer says in addition which web server gave it, as "served_by"
"""

import json
from html import escape
from http.client import HTTPException
from typing import Any
from urllib.parse import parse_qs, urlsplit

from http_service import Reply, Request, Unreachable, begin, send, serve

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Shop</title>
<h1>Shop</h1>
<p>This page was served by <b>{name}</b>.</p>
<ul>
{items}
</ul>
<form method="post" action="/"><input name="text" required autofocus> <button>Add</button></form>
</html>
"""
ITEM = "<li>{text} <small>(written through {written_by})</small></li>"


class Web:
    def __init__(self, name: str, api_url: str) -> None:
        self.name = name
        self.api_url = api_url

    def __call__(self, request: Request) -> Reply:
        path = urlsplit(request.path).path
        if path == "/records" or path.startswith("/records/"):
            status, answer = self.ask(request)
            return self.as_json(status, answer)
        match request.method, path:
            case "GET", "/":
                return self.page(request)
            case "POST", "/":
                return self.form(request)
        return self.as_json(404, {"error": f"there is nothing at {request.path}"})

    def page(self, request: Request) -> Reply:
        status, answer = self.ask(request._replace(method="GET", path="/records", body=b""))
        if status != 200:
            return self.as_json(status, answer)
        items = [ITEM.format(**{name: escape(str(value)) for name, value in record.items()})
                 for record in answer["records"]]  # fmt: skip
        page = PAGE.format(name=escape(self.name), items="\n".join(items))
        return Reply(200, page.encode(), {"Content-Type": "text/html; charset=utf-8"})

    def form(self, request: Request) -> Reply:
        fields = parse_qs(request.body.decode(errors="replace"))
        record = json.dumps({"text": fields.get("text", [""])[0]}).encode()
        status, answer = self.ask(request._replace(path="/records", body=record))
        # The browser gets the page by a request of its own, so that loading it again writes nothing.
        return Reply(303, headers={"Location": "/"}) if status == 201 else self.as_json(status, answer)

    def ask(self, request: Request) -> tuple[int, dict[str, Any]]:
        """Pass a request on to the API; the answer is its status and its JSON, or 502 and what is wrong."""
        headers = {"Content-Type": "application/json", "X-Written-By": self.name}
        try:
            reply = send(self.api_url, request._replace(headers=headers))
            return reply.status, json.loads(reply.body)
        except (Unreachable, OSError, HTTPException, ValueError) as error:
            return 502, {"error": f"the API does not answer: {error}"}

    def as_json(self, status: int, answer: dict[str, Any]) -> Reply:
        body = json.dumps(answer | {"served_by": self.name}).encode() + b"\n"
        return Reply(status, body, {"Content-Type": "application/json"})


if __name__ == "__main__":
    options = begin("A web server of the shop.", needs="api")
    serve(options, Web(options.name, options.api))

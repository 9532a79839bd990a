"""The shop's API, version 2: the records of an SQLite database, in JSON, each with the time when it was written.

GET /records         {"records": [{"id": 1, "text": "tea", "written_by": "web_1", "written_at": "..."}, ...]}
GET /records/1       one of them, or 404
POST /records        takes {"text": "tea"} and answers the record that it has become, with 201
"""

import json
import sqlite3
import threading
import time
from typing import Any
from urllib.parse import quote, urlsplit

from http_service import Reply, Request, begin, serve

Record = dict[str, Any]


class Records:
    """The table of records. One connection serves all threads, one thread at a time."""

    def __init__(self, path: str) -> None:
        # Mode "rw" makes no new database if there is none: the component "database" does that.
        self.database = sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, check_same_thread=False, timeout=10)
        self.database.row_factory = sqlite3.Row
        self.lock = threading.Lock()

    def all(self) -> list[Record]:
        return self.select("SELECT id, text, written_by, written_at FROM record ORDER BY id")

    def one(self, number: str) -> Record | None:
        # Compared as text, so that any words may be asked for.
        statement = "SELECT id, text, written_by, written_at FROM record WHERE CAST(id AS TEXT) = ?"
        found = self.select(statement, number)
        return found[0] if found else None

    def add(self, text: str, writer: str) -> Record:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self.lock, self.database:
            insert = "INSERT INTO record (text, written_by, written_at) VALUES (?, ?, ?)"
            number = self.database.execute(insert, (text, writer, now)).lastrowid
        return {"id": number, "text": text, "written_by": writer, "written_at": now}

    def select(self, statement: str, *values: object) -> list[Record]:
        with self.lock:
            return [dict(row) for row in self.database.execute(statement, values)]


class Api:
    def __init__(self, records: Records) -> None:
        self.records = records

    def __call__(self, request: Request) -> Reply:
        try:
            return self.answer(request)
        except sqlite3.OperationalError as error:
            # A new database is without the column until the step of its installation has migrated it.
            return as_json(503, {"error": f"the database is not ready: {error}"})

    def answer(self, request: Request) -> Reply:
        path = urlsplit(request.path).path.rstrip("/")
        match request.method, path.split("/")[1:]:
            case "GET", ["records"]:
                return as_json(200, {"records": self.records.all()})
            case "GET", ["records", number]:
                record = self.records.one(number)
                return as_json(200, record) if record else as_json(404, {"error": f"there is no record {number}"})
            case "POST", ["records"]:
                return self.add(request)
            case _, ["records", *_]:
                return as_json(405, {"error": "records are read with GET, and written with POST to /records"})
        return as_json(404, {"error": f"there is nothing at {request.path}"})

    def add(self, request: Request) -> Reply:
        try:
            text = json.loads(request.body)["text"]
        except (ValueError, KeyError, TypeError):
            text = None
        if not isinstance(text, str) or not text.strip():
            return as_json(400, {"error": 'a record is written as {"text": "some words"}'})
        return as_json(201, self.records.add(text, request.headers.get("X-Written-By", "")))


def as_json(status: int, value: Record) -> Reply:
    return Reply(status, json.dumps(value).encode() + b"\n", {"Content-Type": "application/json"})


if __name__ == "__main__":
    options = begin("The shop's API.", needs="database")
    serve(options, Api(Records(options.database)))

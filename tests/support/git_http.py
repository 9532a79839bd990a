"""Repositories in git for tests: made by git itself, and served over HTTP on loopback by its own backend."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
WHO = {
    f"GIT_{role}_{what}": text
    for role in ("AUTHOR", "COMMITTER")
    for what, text in (("NAME", "Ann"), ("EMAIL", "ann@example.org"))
}


def git(directory: Path, *words: str, given: bytes = b"") -> str:
    """What git prints, in a directory."""
    environment = {**os.environ, **QUIET, **WHO}
    done = subprocess.run(["git", *words], cwd=directory, env=environment, input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()


class Repository:
    """A repository with a branch ``main``, whose work tree is beside it."""

    def __init__(self, place: Path, name: str = "shop") -> None:
        self.tree = place / f"{name}-tree"
        self.bare = place / f"{name}.git"
        self.tree.mkdir(parents=True)
        git(self.tree, "init", "--quiet", "--initial-branch=main")
        git(place, "clone", "--quiet", "--bare", str(self.tree), str(self.bare))
        git(self.tree, "remote", "add", "origin", str(self.bare))

    def commit(self, files: Mapping[str, str], *, branch: str = "main", force: bool = False) -> str:
        """Commit these files, with what is in the tree, and push; returns the commit."""
        for name, text in files.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if name.endswith(".sh") else 0o644)
        git(self.tree, "add", "--all")
        git(self.tree, "commit", "--quiet", "--allow-empty", "-m", "a change")
        return self.push(branch, force=force)

    def push(self, branch: str = "main", *, force: bool = False) -> str:
        """Push the commit of the tree; returns it."""
        git(self.tree, "push", "--quiet", *(["--force"] if force else []), "origin", f"HEAD:refs/heads/{branch}")
        return git(self.tree, "rev-parse", "HEAD")


class GitServer:
    """Serves the repositories of a folder over HTTP."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        """The paths that were asked for."""

        self.redirect = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                outer.asked.append(self.path)
                if outer.redirect:
                    self.send_response(302)
                    self.send_header("Location", outer.redirect + self.path)
                    self.end_headers()
                    return
                path, _, query = self.path.partition("?")
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                environment = {
                    **os.environ, **QUIET, "GIT_PROJECT_ROOT": str(folder), "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                }  # fmt: skip
                done = subprocess.run(
                    ["git", "http-backend"], env=environment, input=body, capture_output=True, check=False
                )
                head, _, rest = done.stdout.partition(b"\r\n\r\n")
                fields = [line.partition(": ") for line in head.decode().splitlines()]
                status = next((value for name, _, value in fields if name == "Status"), "200 OK")
                self.send_response(int(status.split()[0]))
                for name, _, value in fields:
                    if name != "Status":
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(rest)))
                self.end_headers()
                self.wfile.write(rest)

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def url(self, name: str = "shop.git") -> str:
        """The URL of a repository."""
        return f"http://127.0.0.1:{self.port}/{name}"

    def __enter__(self) -> GitServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

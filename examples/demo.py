"""What `./run demo` does: deploys the shop of `examples/shop` on this machine, uses it, and removes it. `./run serve`
serves it in between, until Ctrl-C; arguments go to `ordito serve`.

Everything happens in a temporary directory and on free ports. Each command is printed before it is run, so that it can
be repeated by hand; what fails makes the demo fail, and even then the shop is removed.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
SHOP = ROOT / "examples" / "shop"
WEB_INSTANCES = 3
VISITS = 6
MOST_PORTS = 60_000


class Failed(Exception):
    """A step of the demo did not do what it should."""


def main(arguments: list[str]) -> int:
    """Run the demo and give its exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    place = Path(tempfile.mkdtemp(prefix="ordito-demo-"))
    try:
        with removed(place):
            if arguments[:1] == ["--serve"]:
                serve(place, arguments[1:])
            else:
                tour(place)
    except Failed as failure:
        print(f"\ndemo: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted", file=sys.stderr)
        return 130
    print("\nThat was the whole life of a service. Next: README.md, and `./run ordito init my-first-service`.")
    return 0


def tour(place: Path) -> None:
    """Deploy, look around, visit, change."""
    ensemble = deployed(place)
    say("2. What exists now, and how it is:")
    ordito("status", "-e", ensemble)
    ordito("output", "-e", ensemble)
    say(f"3. The balancer shares {VISITS} visits among the web servers:")
    url = ordito("output", "url", "-e", ensemble, quietly=True).strip()
    visit(url)
    say("4. Deploying once more finds nothing to do:")
    ordito("deploy", "-e", ensemble, "--yes")


def serve(place: Path, arguments: list[str]) -> None:
    """Deploy, and serve the shop until Ctrl-C."""
    ensemble = deployed(place)
    say("2. Serve it until Ctrl-C; then it is removed:")
    words = ("serve", *arguments, "-e", str(ensemble))
    print(f"\n$ ./run ordito {shlex.join(words)}", flush=True)
    # It gets Ctrl-C as this process does, and ends by itself; only what is told to this process alone is handed on.
    with subprocess.Popen(command(*words), stderr=subprocess.DEVNULL, cwd=ROOT) as server:
        try:
            code = server.wait()
        except KeyboardInterrupt:
            server.send_signal(signal.SIGTERM)
            code = server.wait()
    if code:
        raise Failed(f"`ordito serve` ended with exit code {code}; see what it says by itself")


def deployed(place: Path) -> Path:
    """Deploy the shop; gives its ensemble."""
    ensemble = place / "my-shop"
    ports = free_ports(2 + WEB_INSTANCES)
    values = {
        "web_instances": WEB_INSTANCES,
        "port": ports,
        "api_port": ports + 1,
        "web_port": ports + 2,
        "directory": place / "shop",
    }
    inputs = [part for name, value in values.items() for part in ("-i", f"{name}={value}")]
    say("1. Deploy a shop of three tiers: a database with an API, three web servers, a balancer in front of them.")
    ordito("deploy", SHOP, "-e", ensemble, "--yes", *inputs)
    return ensemble


@contextlib.contextmanager
def removed(place: Path) -> Iterator[None]:
    """Remove whatever was deployed, then the directory, however the demo ends."""
    ensemble = place / "my-shop"
    try:
        yield
        say("Remove everything:")
        ordito("undeploy", "-e", ensemble, "--yes")
        left = [str(path) for path in (place / "shop").rglob("*")]
        if left:
            raise Failed(f"the shop left files behind: {', '.join(left)}")
    except BaseException:
        if ensemble.exists():
            # A job that was cut off must be finished before anything can be removed.
            for words in (("jobs", "resume"), ("undeploy", "--yes")):
                subprocess.run(command(*words, "-e", ensemble), check=False, stdout=subprocess.DEVNULL)
        raise
    finally:
        shutil.rmtree(place, ignore_errors=True)


def visit(url: str) -> None:
    """Write a record through the balancer, and read it back through each web server."""
    print(f'$ curl -s -d \'{{"text": "hello"}}\' {url}/records')
    written = urllib.request.Request(
        f"{url}/records", json.dumps({"text": "hello"}).encode(), {"Content-Type": "application/json"}
    )
    served: set[str] = set()
    try:
        with urllib.request.urlopen(written, timeout=10) as answer:
            print(answer.read().decode().strip())
        for _ in range(VISITS):
            with urllib.request.urlopen(f"{url}/records", timeout=10) as answer:
                by = answer.headers.get("X-Served-By", "?")
                served.add(by)
                print(f"{by} answers: {answer.read().decode().strip()}")
    except OSError as error:
        raise Failed(f"{url} does not answer: {error}") from error
    if len(served) != WEB_INSTANCES:
        raise Failed(f"only {', '.join(sorted(served))} answered; {WEB_INSTANCES} web servers were deployed")


def ordito(*words: str | Path, quietly: bool = False) -> str:
    """Run a command of Ordito and show it; gives what it printed on standard output."""
    shown = shlex.join(str(word.relative_to(ROOT)) if word == SHOP else str(word) for word in words if word)
    print(f"\n$ ./run ordito {shown}", flush=True)
    done = subprocess.run(command(*words), check=False, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if not quietly or done.returncode:
        print(done.stdout, end="", flush=True)
    if done.returncode:
        raise Failed(f"`ordito {words[0]}` ended with exit code {done.returncode}")
    return done.stdout


def command(*words: str | Path) -> list[str]:
    """The command line of this checkout's Ordito."""
    return [sys.executable, "-m", "ordito", *map(str, words)]


def free_ports(count: int) -> int:
    """The first of so many neighbouring ports that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        begin = probe.getsockname()[1]
    for first in [*range(min(begin, MOST_PORTS), MOST_PORTS, count), *range(20_000, MOST_PORTS, count)]:
        if all(is_free(port) for port in range(first, first + count)):
            return int(first)
    raise Failed(f"there are no {count} free ports in a row on this machine")


def is_free(port: int) -> bool:
    """Whether nobody listens on a port of this machine."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def say(text: str) -> None:
    """Say what comes next."""
    print(f"\n{text}", flush=True)


def _terminated(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

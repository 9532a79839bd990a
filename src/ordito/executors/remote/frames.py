"""What the shell beside an operation says, taken out of its standard error.

It is a stream of lines ``<mark> WORD ...`` that begin with a mark that nobody can guess, each after a line break of its
own; what follows ``result`` and ``outputs`` until the next one is a file. Everything before the first is of others: a
greeting, or why the shell could not begin.
"""

from __future__ import annotations

from ordito.executors.result import LARGEST_FILE

MOST_NOISE = 4_096


class Frames:
    """Collects what is said. ``noise`` is what came before; ``begun`` are process id and start time;
    ``refused`` says why the operation was not started, ``status`` is its exit status when it has ended, ``left``
    is not empty where it has left something behind, ``held`` where that may go on printing."""

    def __init__(self, mark: str) -> None:
        self._mark = f"\n{mark} ".encode()
        self._rest = b"\n"
        self._file = "noise"
        self._files: dict[str, bytearray] = {}
        self.begun: tuple[int, int] | None = None
        self.left = ""
        self.refused: tuple[str, ...] = ()
        self.status: int | None = None

    def take(self, data: bytes) -> None:
        """A piece of the stream."""
        self._rest += data
        while (at := self._rest.find(self._mark)) >= 0:
            end = self._rest.find(b"\n", at + len(self._mark))
            if end < 0:
                break
            self._keep(self._rest[:at])
            line = self._rest[at + len(self._mark) : end].decode(errors="replace")
            self._rest = self._rest[end + 1 :]
            self._hear(line)
        else:
            # A mark may come in two pieces.
            safe = max(len(self._rest) - len(self._mark), 0)
            self._keep(self._rest[:safe])
            self._rest = self._rest[safe:]

    def file(self, name: str) -> bytes:
        """A file that was told; ``noise`` as well."""
        return bytes(self._files.get(name, b""))

    @property
    def noise(self) -> str:
        """The last line that is of nobody's making that we know."""
        text = (self.file("noise") + (self._rest if self._file == "noise" else b"")).decode(errors="replace")
        return text.strip().rpartition("\n")[2]

    def _keep(self, data: bytes) -> None:
        most = MOST_NOISE if self._file == "noise" else LARGEST_FILE + 1
        kept = self._files.setdefault(self._file, bytearray())
        if len(kept) < most:
            kept += data

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        self._file = "said"
        if word == "begin":
            pid, start = (int(number) for number in rest.split())
            self.begun = (pid, start)
            self._file = "noise"
        elif word == "refused":
            self.refused = tuple(rest.split(" ", 1))
            self._file = "noise"
        elif word == "end":
            status, _, self.left = rest.partition(" ")
            self.status = int(status)
        else:
            self._file = word
            self._files[word] = bytearray()


class Out:
    """The output of an operation, taken out of the standard output of a shell that runs several: it ends with a mark,
    whose first byte is in it but once."""

    def __init__(self, mark: str) -> None:
        self._mark = f"\1{mark} out\n".encode()
        self._rest = b""
        self.is_over = False

    def take(self, data: bytes) -> bytes:
        """A piece of the stream; what of it, or of the piece before, is the operation's for sure, or comes of what it
        has left."""
        data, self._rest = self._rest + data, b""
        if self.is_over:
            return data
        before, found, after = data.partition(self._mark)
        if found:
            self.is_over = True
            return before + after
        at = data.rfind(self._mark[:1], max(len(data) - len(self._mark), 0))
        if at >= 0 and self._mark.startswith(data[at:]):
            data, self._rest = data[:at], data[at:]
        return data

    def left(self) -> bytes:
        """What was kept back, when nothing more comes."""
        rest, self._rest = self._rest, b""
        return rest

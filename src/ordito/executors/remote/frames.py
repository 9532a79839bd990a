"""What the shell beside an operation says, taken out of the stream that the operation prints into.

The shell speaks in lines ``<mark> WORD ...``, whose mark nobody can guess. What stands between them is what the
operation printed, save behind ``result`` and ``outputs``, where files follow, and before the first one: that is of
others, a greeting perhaps. Both go through one pipe, so that their order is kept, and an end is one message.
"""

from __future__ import annotations

from ordito.executors.left_behind import LARGEST_FILE, Left

MOST_NOISE = 4_096
NOISE = "noise"


class Frames:
    """Takes the stream apart.

    ``begun`` are process id and start time; ``refused`` says why the operation was not started, ``status`` is its exit
    status when it has ended, ``left`` is not empty where it has left something behind, ``held`` where that may go on
    printing.
    """

    def __init__(self, mark: str) -> None:
        # The first byte is in it but once, and hardly ever in anything else.
        self._mark = f"\1{mark} ".encode()
        self._rest = b""
        self._file = NOISE
        self._files: dict[str, bytearray] = {}
        self._unfit: dict[str, str] = {}
        self.begun: tuple[int, int] | None = None
        self.left = ""
        self.refused: tuple[str, ...] = ()
        self.status: int | None = None

    def take(self, data: bytes) -> bytes:
        """A piece of the stream; what of it, or of what was kept back of the piece before, the operation printed."""
        data = self._rest + data
        printed = []
        while (at := data.find(self._mark)) >= 0 and (end := data.find(b"\n", at)) >= 0:
            printed.append(self._keep(data[:at]))
            self._hear(data[at + len(self._mark) : end].decode(errors="replace"))
            data = data[end + 1 :]
        if at < 0:
            # A mark may come in two pieces.
            at = data.rfind(self._mark[:1], max(len(data) - len(self._mark), 0))
            if at < 0 or not self._mark.startswith(data[at:]):
                at = len(data)
        self._rest = data[at:]
        printed.append(self._keep(data[:at]))
        return b"".join(printed)

    def take_noise(self, data: bytes) -> None:
        """Something that was said beside the stream."""
        self._store(NOISE, data)

    def rest(self) -> bytes:
        """What was kept back, when nothing more comes."""
        rest, self._rest = self._rest, b""
        return self._keep(rest)

    def file(self, name: str) -> Left:
        """A file that was told."""
        return Left(bytes(self._files.get(name, b"")), self._unfit.get(name, ""))

    @property
    def noise(self) -> str:
        """The last line that is of nobody that we know."""
        return self.file(NOISE).data.decode(errors="replace").strip().rpartition("\n")[2]

    def _keep(self, data: bytes) -> bytes:
        """Put a piece where it belongs; gives it back if it was printed."""
        if not self._file:
            return data
        self._store(self._file, data)
        return b""

    def _store(self, name: str, data: bytes) -> None:
        kept = self._files.setdefault(name, bytearray())
        if len(kept) < (MOST_NOISE if name == NOISE else LARGEST_FILE + 1):
            kept += data

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        self._file = ""
        if word == "begin":
            pid, start = (int(number) for number in rest.split())
            self.begun = (pid, start)
        elif word == "refused":
            self.refused = tuple(rest.split(" ", 1))
        elif word == "unfit":
            name, _, why = rest.partition(" ")
            self._unfit[name] = why
        elif word == "end":
            status, _, self.left = rest.partition(" ")
            self.status = int(status)
        else:
            self._file = word
            self._files[word] = bytearray()

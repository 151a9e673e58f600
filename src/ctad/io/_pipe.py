"""A pipe whose reader can stop without waiting for the writer."""

from __future__ import annotations

import io
from contextlib import suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import IO, Any

PIECE_BYTES = 1 << 16  # as much as a pipe holds
PIECES_AHEAD = 16


class PipeReader(io.RawIOBase):
    """The bytes of a pipe, read ahead by a thread.

    A blocked read of a pipe cannot be interrupted. So the thread blocks, not the caller: after
    `stop`, the caller sees the end of the file. The thread is a daemon, so that Python can exit
    while it waits for the writer.

    Parameters
    ----------
    pipe : binary file, not buffered
        A buffered file has a lock, which Python needs to exit.
    close : bool
        Whether to close the pipe when it is no longer needed.
    """

    def __init__(self, pipe: IO[bytes] | io.RawIOBase, *, close: bool) -> None:
        self._pipe, self._closes = pipe, close
        self._pieces: Queue[bytes | Exception] = Queue(PIECES_AHEAD)
        self._pending = memoryview(b"")
        self._is_at_end = False
        self._stopped = Event()
        Thread(target=self._read_ahead, name="ctad pipe reader", daemon=True).start()

    def _read_ahead(self) -> None:
        try:
            while not self._stopped.is_set() and (piece := self._pipe.read(PIECE_BYTES)):
                self._pieces.put(piece)
        except Exception as error:  # raised again where the bytes are needed
            self._pieces.put(error)
        else:
            self._pieces.put(b"")
        finally:
            if self._closes:
                self._pipe.close()

    def readable(self) -> bool:
        """True: the pipe can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for bytes; 0 at the end of the pipe and after `stop`."""
        if not self._pending and not self._is_at_end:
            piece = self._pieces.get()
            if isinstance(piece, Exception):
                raise piece
            self._pending = memoryview(piece)
            self._is_at_end = not piece
        if self._stopped.is_set():
            return 0
        part = self._pending[: len(buffer)]
        buffer[: len(part)] = part
        self._pending = self._pending[len(part) :]
        return len(part)

    def stop(self) -> None:
        """End the stream here; a caller that waits for bytes is woken."""
        self._stopped.set()
        with suppress(Empty):  # the thread may wait for room
            while True:
                self._pieces.get_nowait()
        self._pieces.put(b"")

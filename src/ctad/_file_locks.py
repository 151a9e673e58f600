"""Locks on files, where the system has them."""

from __future__ import annotations


def lock_file(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file for this process until it is closed.

    Parameters
    ----------
    descriptor : int
    wait : bool
        True: wait while another process has the lock. False: raise BlockingIOError.

    Returns
    -------
    bool
        False where there are no locks: on Windows and on some network drives.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        return False
    return True

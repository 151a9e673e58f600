"""A server on this machine that does to a file what servers on the internet do at times."""

from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Event, Thread


class Server:
    """Answers requests in one way after the other; the last goes on."""

    def __init__(self, body, *answers):
        self.body = body
        self.answers = list(answers)
        self.requested = []  # paths
        self.half_sent = Event()
        self.stopped = Event()
        self.both_halfway = Barrier(2)

    def answer(self, request):
        self.requested.append(request.path)
        number = min(len(self.requested), len(self.answers)) - 1
        self.answers[number](self, request)


def whole(server, request):
    send(request, server.body)


def error(code):
    return lambda server, request: request.send_error(code)


def silent(server, request):
    """No answer at all."""
    server.stopped.wait(60)


def stalls(server, request):
    """Half of it, then nothing."""
    send(request, server.body[: len(server.body) // 2], length=len(server.body))
    server.half_sent.set()
    server.stopped.wait(60)


def slow(server, request):
    """Half of it, and the rest after a pause."""
    half = len(server.body) // 2
    send(request, server.body[:half], length=len(server.body))
    server.stopped.wait(0.5)
    request.wfile.write(server.body[half:])


def breaks_off(server, request):
    """Half of it, then an end."""
    send(request, server.body[: len(server.body) // 2], length=len(server.body))


def promises_less(server, request):
    send(request, server.body, length=len(server.body) // 2)


def promises_nonsense(server, request):
    send(request, server.body, length="much")


def other_bytes(server, request):
    send(request, server.body[::-1])


def waits_for_the_other(server, request):
    """Half of it, and the rest when another request has got its half, too."""
    half = len(server.body) // 2
    send(request, server.body[:half], length=len(server.body))
    server.both_halfway.wait(60)
    request.wfile.write(server.body[half:])


def send(request, content, length=None):
    request.send_response(200)
    request.send_header("Content-Length", str(len(content) if length is None else length))
    request.end_headers()
    request.wfile.write(content)
    request.wfile.flush()


@contextmanager
def serving(body, *answers):
    """A `Server`, with its address as `url`."""
    server = Server(body, *answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            with suppress(ConnectionError):  # whoever asked has had enough
                server.answer(self)

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        http.shutdown()
        thread.join()
        http.server_close()

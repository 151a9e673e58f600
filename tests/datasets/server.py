"""A local server that fails in the ways in which servers on the internet fail."""

from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Event, Thread


class Server:
    """Gives one answer after the other; repeats the last one."""

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
    """Do not answer."""
    server.stopped.wait(60)


def stalls(server, request):
    """Send half of the file, then nothing more."""
    send(request, server.body[: len(server.body) // 2], length=len(server.body))
    server.half_sent.set()
    server.stopped.wait(60)


def slow(server, request):
    """Send half of the file, and the rest after a pause."""
    middle = len(server.body) // 2
    send(request, server.body[:middle], length=len(server.body))
    server.stopped.wait(0.5)
    request.wfile.write(server.body[middle:])


def half(server, request):
    """Send half of the file and close the connection."""
    send(request, server.body[: len(server.body) // 2], length=len(server.body))


def length_too_small(server, request):
    send(request, server.body, length=len(server.body) // 2)


def length_not_a_number(server, request):
    send(request, server.body, length="much")


def other_bytes(server, request):
    send(request, server.body[::-1])


def waits_for_another_request(server, request):
    """Send half of the file, and the rest when another request has its half, too."""
    middle = len(server.body) // 2
    send(request, server.body[:middle], length=len(server.body))
    server.both_halfway.wait(60)
    request.wfile.write(server.body[middle:])


def send(request, content, length=None):
    request.send_response(200)
    request.send_header("Content-Length", str(len(content) if length is None else length))
    request.end_headers()
    request.wfile.write(content)
    request.wfile.flush()


@contextmanager
def serving(body, *answers):
    """Run a `Server`; its address is `url`."""
    server = Server(body, *answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            with suppress(ConnectionError):  # the client has closed the connection
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

"""A headless Chromium, spoken to over pipes in the DevTools protocol; POSIX only."""

import json
import os
import shutil
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Busy machines are slow, but a browser that says nothing for so long has hung.
_PATIENCE = 60.0


def find_chromium():
    """Return the path of a Chromium that can be driven here, or None."""
    if sys.platform == "win32":
        return None
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Chromium:
    """A browser with one page, and all that the page reported since it was opened."""

    def __init__(self, program, profile):
        commands, self._commands = _pipe()
        self._replies, replies = _pipe()
        null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        # The protocol wants descriptors 3 and 4.
        pipes = [(os.POSIX_SPAWN_DUP2, commands, 3), (os.POSIX_SPAWN_DUP2, replies, 4)]
        arguments = [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        # A group of its own: Chromium starts further processes, and all of them have to end.
        self._pid = os.posix_spawn(
            program, arguments, os.environ, file_actions=[*null, *pipes], setpgroup=0
        )
        os.close(commands)
        os.close(replies)
        self._unread = bytearray()
        self._messages = deque()
        self._n_sent = 0
        self._session = None
        self.events = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.send(f"{domain}.enable")

    def close(self):
        os.close(self._commands)
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._replies)

    def send(self, method, **params):
        """Send a command and return its result."""
        self._n_sent += 1
        message = {"id": self._n_sent, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        reply = self._next(lambda message: message.get("id") == self._n_sent)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def open(self, path):
        """Open a file; forget what earlier pages reported."""
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        self._next(lambda message: message.get("method") == "Page.loadEventFired")

    def evaluate(self, expression):
        """Return the value of a JavaScript expression; promises are waited for."""
        result = self.send(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def press(self, key, text=""):
        """Press and release a key."""
        code = {"Enter": 13, "Tab": 9, " ": 32}.get(key, 0)
        common = {"key": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector):
        """Click the middle of an element."""
        x, y = self.evaluate(
            f"(() => {{const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def params_of(self, *methods):
        """Return the parameters of the events of some kinds."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def _next(self, wanted):
        """Return the next message that is wanted, and keep the events before it."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            while self._messages:
                message = self._messages.popleft()
                if "method" in message:
                    self.events.append(message)
                if wanted(message):
                    return message
            self._read(deadline - time.monotonic())

    def _read(self, patience):
        with DefaultSelector() as selector:
            selector.register(self._replies, EVENT_READ)
            if not selector.select(max(patience, 0)):
                raise TimeoutError(f"Chromium says nothing for {_PATIENCE:.0f} seconds.")
        piece = os.read(self._replies, 1 << 20)
        if not piece:
            raise RuntimeError("Chromium has closed its pipe; does it start by hand?")
        self._unread += piece
        *whole, rest = self._unread.split(b"\0")
        self._unread = bytearray(rest)
        self._messages.extend(map(json.loads, whole))


def _pipe():
    """Return a pipe whose ends stay clear of the descriptors that the child gets."""
    # Windows, where none of this can run, has no such module.
    import fcntl

    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high

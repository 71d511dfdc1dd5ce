"""A client of sayso, the gate between AI agents and the tools they call.

One file, Python 3.9 or newer, nothing else: copy it or install it.

    import sayso

    @sayso.guard(session="s1")
    def send_email(to: str, subject: str) -> str:
        ...                       # runs if policy or a person says so, and only then

    try:
        send_email(to="ana@example.org", subject="hello")
    except sayso.NotAllowed as no:
        print(no)                 # what an agent should be told

There is one way to a yes, and it is to return: whatever else happens is an
exception that is a NotAllowed, and nothing ran. Its subclasses keep apart why:
Denied (with the note of whoever denied), Expired, Withdrawn, Pending (with the
ticket that waits), CouldNotFindOut, and those for mistakes.

A token is sent to the address that the client was made for and to no other:
redirects are refused, proxies are not asked, plain HTTP is spoken on loopback
alone, and a Unix socket is spoken to if it is ours or root's who listens there.
No token stands in any text, error or repr of this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import http.client
import inspect
import ipaddress
import json
import os
import random
import re
import secrets
import socket
import stat
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence
from urllib.parse import quote, urlencode, urlsplit

VERSION = ""  # of the release that this file came with; empty for none

_MAX_CALL = 4 << 20
_MAX_DEPTH = 200
_MAX_ANSWER = 64 << 20
_MAX_EVENT = 16 << 20
_SILENCE = 45.0  # a stream that says nothing for so long is broken; it beats every 15 s
_GRACE = 30.0  # how long an answer may take that nobody waits for


# ---------------------------------------------------------------- ways to not get a yes


class NotAllowed(Exception):
    """The call may not run. As text it is what an agent should be told.

    code is the stable name of the reason, ticket the request that it is about
    ("" where there is none), decision the decision that stands, if there is one.
    """

    code = "unavailable"

    def __init__(self, text: str = "", *, ticket: str = "", decision: Optional[Decision] = None) -> None:
        super().__init__(text)
        self.text = text
        self.decision = decision
        self.ticket = ticket or (decision.id if decision is not None else "")

    def __str__(self) -> str:
        return told(self)


class Denied(NotAllowed):
    """Policy, a person, the mode or the deadline said no. note is theirs."""

    code = "denied"

    @property
    def note(self) -> str:
        return self.decision.note if self.decision is not None else ""

    @property
    def who(self) -> str:
        return self.decision.who if self.decision is not None else ""


class Pending(NotAllowed):
    """Nobody has decided yet. The request waits under its ticket until deadline
    (RFC 3339, None for ever); the same call asked again takes it up. stop says
    to stop and report instead."""

    code = "pending"

    def __init__(self, text: str = "", *, deadline: Optional[str] = None, stop: bool = False, **more: Any) -> None:
        super().__init__(text, **more)
        self.deadline = deadline
        self.stop = stop


class Expired(NotAllowed):
    """Nobody answered before the deadline."""

    code = "expired"


class Withdrawn(NotAllowed):
    """The request was taken back."""

    code = "withdrawn"


class Spent(NotAllowed):
    """The approval was for one run and has been used."""

    code = "spent"


class Voided(NotAllowed):
    """The approval lapsed, or what it was given for has changed."""

    code = "voided"


class Mismatch(NotAllowed):
    """The approval, or the answer, is about something else."""

    code = "mismatch"


class Conflict(NotAllowed):
    """The call id was used for another call, or a short id means several requests."""

    code = "conflict"


class Decided(NotAllowed):
    """Another decision stands: it is in decision."""

    code = "decided"


class TooMany(NotAllowed):
    """More open requests or asks than a session may have."""

    code = "too-many"


class Invalid(NotAllowed):
    """What was given is not what it must be. Nothing was asked."""

    code = "invalid"


class NotFound(NotAllowed):
    """Nothing has this id."""

    code = "not-found"


class NoRight(NotAllowed):
    """The principal of the token may not do this, or there is no valid token."""

    code = "not-allowed"


class PresentationWanted(NotAllowed):
    """A person will be asked, and has to be shown something first."""

    code = "presentation-wanted"


class CouldNotFindOut(NotAllowed):
    """Whether the call may run could not be found out, so it does not."""

    code = "unavailable"


class Cancelled(CouldNotFindOut):
    """The wait was given up. The request stays open."""


class Unreachable(CouldNotFindOut):
    """The connection broke before there was an answer. refused says that there
    was nobody to connect to."""

    def __init__(self, text: str = "", refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


_BY_CODE = {
    c.code: c
    for c in (Pending, Expired, Withdrawn, Spent, Voided, Mismatch, Conflict, Decided, TooMany, Invalid, NotFound, NoRight, PresentationWanted)
}
_BY_CODE.update({
    "malformed": Invalid, "too-large": Invalid, "not-json": Invalid, "method-not-allowed": Invalid,
    "unauthenticated": NoRight, "forbidden": NoRight, "content-wanted": NoRight,
})


def told(no: NotAllowed) -> str:
    """What an agent should be told: what happened, and what to do now."""
    ticket = f" (ticket {_short(no.ticket)})" if no.ticket else ""
    if isinstance(no, Denied):
        return _told_denied(no.decision, ticket)
    if isinstance(no, Pending):
        if no.stop:
            return f"Not decided yet, ticket {_short(no.ticket)}. Stop and report; do not ask again."
        return (
            f"Not decided yet, ticket {_short(no.ticket)}: a person has not answered. This is not a refusal and nothing ran. "
            f"Make exactly the same call again to go on waiting, or stop and report that `sayso approve {_short(no.ticket)}` is needed."
        )
    if type(no) in _TOLD:
        return _TOLD[type(no)].replace("{ticket}", ticket)
    text = no.text or no.code
    if isinstance(no, Invalid):
        return f"Refused: the call could not be read strictly ({text}). Nothing was asked and nothing ran."
    return (
        f"Could not find out whether this call may run ({text}), so it does not. "
        "Stop and report this to the user: `sayso status` says what is wrong."
    )


_TOLD = {
    Expired: "Expired{ticket}: nobody answered before the deadline. This is not a refusal. "
    "Ask again only if the call is still needed, or stop and report.",
    Withdrawn: "Withdrawn{ticket}: the request was taken back before anybody answered. Nothing ran. "
    "Make the call again only if it is still needed.",
    TooMany: "Too many open requests: this session has more calls waiting than it may have. "
    "Nothing was asked. Stop and report; do not ask again until the waiting ones are answered.",
    Spent: "Already used{ticket}: this approval was for one run and has been used. Make a new call.",
    Voided: "No longer valid{ticket}: the approval lapsed, or what it was given for has changed. Make the call again to ask anew.",
    Conflict: "Refused: this call id was used before for another call. Make a new call.",
}


def _told_denied(d: Optional[Decision], ticket: str) -> str:
    if d is None:
        return "Denied. Do not repeat the call; do it another way, or stop and ask."
    if d.source == "person":
        if d.note:
            return f"Denied by {d.who}{ticket}: {d.note}"
        return f"Denied by {d.who}{ticket}. Do not repeat the call; do it another way, or stop and ask."
    if d.source == "mode":
        return (
            f"Denied by the {d.mode} mode{ticket}: this call would have to be asked about, and nobody is asked in this mode. "
            "Do it another way, or stop and report."
        )
    if d.source == "deadline":
        return (
            f"Denied by the deadline{ticket}: nobody answered in time, and the policy says that this is a denial. "
            "Do it another way, or stop and report."
        )
    return f"Denied by policy{ticket}: {d.because}. Do not repeat the call; do it another way, or stop and report."


def _short(id: str) -> str:
    return id[10:14] if len(id) == 36 else id


# ---------------------------------------------------------------- JSON, strictly


def _once(pairs: list) -> dict:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key")
    return members


def _fraction(text: str) -> float:
    f = float(text)
    if f in (float("inf"), float("-inf")):
        raise ValueError("a number that no double holds")
    return f


def _exact(text: str) -> float:
    """A fraction, or a whole number with an exponent, that is not changed by
    being read. Other fractions are what their double is, for everybody."""
    f = _fraction(text)
    lost = re.search("[1-9]", re.split("[eE]", text)[0]) if f == 0 else f.is_integer() and Decimal(text) != Decimal(repr(f))
    if lost:
        raise ValueError("a number that no double holds")
    return f


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _read(text: bytes, fraction: Callable = _fraction) -> Any:
    """Reads JSON that has no key twice."""
    failed = ""
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse, parse_float=fraction)
    except UnicodeDecodeError:
        failed = "it is no UTF-8"
    except json.JSONDecodeError as e:
        failed = f"{e.msg} at {e.pos}"  # which quotes nothing
    except (ValueError, RecursionError) as e:
        failed = str(e) if isinstance(e, ValueError) and len(str(e)) < 60 else "it is nested or written beyond measure"
    raise ValueError(failed)  # here, so that what was read hangs on no traceback


def canonical(value: Any) -> str:
    """The canonical JSON of a value (RFC 8785, with exact integers)."""
    with contextlib.suppress(UnicodeEncodeError):
        return _write(value)
    raise Invalid("a text is no Unicode")


def _write(value: Any, depth: int = 0) -> str:
    kind = type(value)
    if depth > _MAX_DEPTH - (kind in (list, dict)):
        raise Invalid("nested too deep")
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if kind is str:
        value.encode("utf-8")
        return json.dumps(value, ensure_ascii=False)
    if kind is int or kind is float:
        return _number(value)
    if kind is list:
        return "[" + ",".join([_write(v, depth + 1) for v in value]) + "]"
    if kind is dict:
        if not all(type(k) is str for k in value):
            raise Invalid("a key is no text")
        return "{" + ",".join([_write(k) + ":" + _write(value[k], depth + 1) for k in sorted(value, key=lambda k: k.encode("utf-16-be"))]) + "}"
    raise Invalid(f"a value is a {kind.__name__}, which is no JSON")


def _number(n: Any) -> str:
    """A number as RFC 8785 writes it, but with every digit of a whole one."""
    failed = False
    try:
        failed = float(n) in (float("inf"), float("-inf")) or n != n
        text = repr(n)
    except (OverflowError, ValueError):
        failed = True
    if failed:
        raise Invalid("a number that no double holds")
    sign = "-" if text.startswith("-") else ""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) - (len(whole + fraction) - len(digits)) + int(exponent or 0)
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    size = len(digits)
    if size <= point <= 21:
        return sign + digits + "0" * (point - size)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    rest = "." + digits[1:] if size > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


# ---------------------------------------------------------------- calls

_TEXTS = ("tool", "server", "session", "run", "call_id", "caller", "group_id", "definition_digest")
_MEMBERS = {**dict.fromkeys((*_TEXTS, "cwd", "kind", "description"), str), "args": dict, "metadata": dict, "said": dict, "annotations": dict, "tags": list}
_KINDS = ("", "shell", "read", "write", "edit", "delete", "list", "fetch", "search", "delegate", "mcp", "other")
_ANNOTATIONS = ("read_only", "destructive", "idempotent", "open_world")
_OWN = {"read_file": "file-read", "write_file": "file-write", "edit_file": "file-edit", "delete_file": "file-delete", "list_files": "file-list"}

Call = dict  # of the members that docs/api.md lists; tool and args are needed


def call(tool: str, args: Optional[dict] = None, **members: Any) -> Call:
    """A call of a tool, checked. What it holds is copied."""
    made = {"tool": tool, "args": {} if args is None else args, **members}
    check_call(made)
    return _read(canonical(made).encode("utf-8"))


def parse_call(text: str) -> Call:
    """Reads a call from JSON, strictly: no key twice, no unknown member."""
    read = _read_text(text, "call")
    check_call(read)
    return read


def _read_text(text: Any, what: str) -> Any:
    failed = ""
    try:
        if len(text) > _MAX_CALL:
            raise ValueError(f"it may have {_MAX_CALL} bytes")
        return _read(text.encode("utf-8"), _exact)
    except (ValueError, AttributeError, TypeError) as e:
        failed = "it is no text of JSON" if isinstance(e, UnicodeError) or not isinstance(e, ValueError) else str(e)
    raise Invalid(f"{what}: {failed}")


def check_call(c: Any) -> None:
    """Raises Invalid if c is no call."""
    if type(c) is not dict:
        raise Invalid("a call is a dict")
    if "host" in c:
        raise Invalid("call: host is for the hooks of agents; leave it out, and say who calls in caller")
    for name, value in c.items():
        if name not in _MEMBERS:
            raise Invalid("call: a member that is not known")
        if type(value) is not _MEMBERS[name]:
            raise Invalid(f"call: {name} must be a {_MEMBERS[name].__name__}")
    if not c.get("tool"):
        raise Invalid("call: tool is missing")
    if "args" not in c:
        raise Invalid("call: args is missing; a call without arguments has {}")
    if c.get("kind", "") not in _KINDS:
        raise Invalid("call: kind is none of " + ", ".join(_KINDS[1:]))
    if not all(k in _ANNOTATIONS and type(v) is bool for k, v in c.get("annotations", {}).items()):
        raise Invalid("call: annotations are " + ", ".join(_ANNOTATIONS) + ", each true or false")
    for name in (*_TEXTS, "cwd"):
        text = c.get(name, "")
        if any(ch < " " or ch == "\x7f" or "\ud800" <= ch <= "\udfff" for ch in text):
            raise Invalid(f"call: {name} holds a control character or is not UTF-8")
        if len(text.encode("utf-8")) > (4096 if name == "cwd" else 256):
            raise Invalid(f"call: {name} is too long")


def digest(c: Call) -> str:
    """Identifies exactly this call: tool, server, arguments, directory, session
    and the tool's definition."""
    check_call(c)
    tool, server = _canonical_name(c["tool"], c.get("server", ""))
    text = canonical({
        "args": c["args"], "cwd": c.get("cwd", ""), "definition_digest": c.get("definition_digest", ""), "server": server,
        "session": c.get("session", ""), "tool": tool, "v": 1,
    })
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def _canonical_name(tool: str, server: str) -> tuple:
    if server:
        own = "mcp__" + re.sub("[^A-Za-z0-9_-]", "_", server) + "__"
        return (tool[len(own):] if tool.startswith(own) and tool != own else tool), server
    tool = _OWN.get(tool, tool)
    if tool.startswith("mcp__"):
        of, split, name = tool[5:].partition("__")
        if split and of and name:
            return name, of
    return tool, ""


# ---------------------------------------------------------------- decisions


@dataclass(frozen=True)
class Decision:
    """The decision that stands. One without members denies; it is true only if
    it allows. args are edited arguments, None where they are the caller's own."""

    effect: str = "deny"
    state: str = "denied"
    id: str = ""
    source: str = ""
    by: Sequence[Mapping[str, str]] = ()
    at: str = ""
    note: str = ""
    cause: str = ""
    rule: str = ""
    file: str = ""
    line: int = 0
    reason: str = ""
    mode: str = ""
    grant: str = ""
    digest: str = ""
    args: Optional[dict] = None
    receipt: Mapping[str, str] = field(default_factory=dict)
    redeemed: bool = False

    @property
    def allowed(self) -> bool:
        return self.effect == "allow" and self.state == "allowed"

    def __bool__(self) -> bool:
        return self.allowed

    @property
    def who(self) -> str:
        """Who decided, or what did."""
        return ", ".join(a.get("principal", "") for a in self.by) or self.source

    @property
    def because(self) -> str:
        """The reason, the rule and where it stands."""
        reason = self.reason[:-1] if self.reason.endswith(".") else self.reason
        rule = "rule " + json.dumps(self.rule, ensure_ascii=False) if self.rule else ""
        where = f"{self.file}:{self.line}" if self.file else ""
        return ", ".join(p for p in (reason, rule, where) if p) or "no rule allows it"

    def of(self, call: Call) -> Call:
        """The call that may run: with the edited arguments, if there are some."""
        return _copied(call if self.args is None else {**call, "args": self.args})

    @classmethod
    def read(cls, members: Any) -> Decision:
        """Reads the members of a decision. A word that is not known is no
        decision."""
        ok = type(members) is dict
        known = {k: v for k, v in members.items() if k in _DECISION} if ok else {}
        ok = ok and all(type(v) is _DECISION[k] for k, v in known.items())
        ok = ok and known.get("effect") in ("allow", "deny") and known.get("state") in _STATES
        ok = ok and all(type(a) is dict and all(type(v) is str for v in a.values()) for a in known.get("by", ()))
        if not ok:
            raise CouldNotFindOut("the answer is no decision")
        return cls(**known)


_DECISION = {
    **dict.fromkeys(
        ("effect", "state", "id", "source", "at", "note", "cause", "rule", "file", "reason", "mode", "grant", "digest"), str
    ),
    "by": list, "line": int, "args": dict, "receipt": dict, "redeemed": bool,
}  # fmt: skip
_STATES = ("open", "parked", "allowed", "denied", "expired", "withdrawn")


def _checked(d: Decision, c: Call) -> Decision:
    """Returns an allow that is about the call, and raises for everything else."""
    if d.effect != "allow":
        raise Denied(decision=d)
    if not d.allowed:
        raise CouldNotFindOut("the answer is a yes to what is not decided")
    want = digest(d.of(c))
    if d.digest != want or d.receipt.get("digest") != want or not d.id or d.receipt.get("request") != d.id:
        raise Mismatch("the server decided about another call")
    return d


# ---------------------------------------------------------------- where the server is, and who asks


class _Token:
    """A token that shows itself to nobody but the server."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not secret or not all("!" <= ch <= "~" for ch in secret):
            raise Invalid("the token is empty or has signs that no token has; `sayso token create` makes one")
        self._secret = secret

    def __repr__(self) -> str:
        return "<token>"

    def __reduce__(self) -> Any:
        raise TypeError("a token is not copied")

    def header(self) -> str:
        return "Bearer " + self._secret

    def hidden(self, text: str) -> str:
        """The text without the token, and as one line without control characters."""
        line = text.replace(self._secret, "<token>").split("\n", 1)[0]
        return "".join(ch if ch.isprintable() else "?" for ch in line)[:300]


_MAKE_TOKEN = "(umask 077; sayso token create --name my-agent --kind agent > ~/my-agent.token), and start the program with SAYSO_TOKEN_FILE=~/my-agent.token"


def _token_of(path: str, what: str) -> _Token:
    """Reads a token from a file that must be ours and closed to others."""
    failed = ""
    try:
        with open(path, encoding="ascii") as f:
            info = os.fstat(f.fileno())
            if info.st_mode & 0o077:
                failed = f"{path} may be read by others; type: chmod 600 {path}"
            elif info.st_uid not in (os.getuid(), 0) or not stat.S_ISREG(info.st_mode):
                failed = f"{path} is no file of yours"
            else:
                return _Token(f.read(4096).strip())
    except FileNotFoundError:
        failed = f"no token in {path}; {what}"
    except (OSError, UnicodeError) as e:
        failed = f"{path}: {e.strerror if isinstance(e, OSError) else 'no text'}"
    raise NoRight(failed)


def _folder(env: Mapping[str, str], name: str, *below: str) -> str:
    if os.path.isabs(env.get(name, "")):
        return os.path.normpath(env[name])
    if not os.path.isabs(env.get("HOME", "")):
        raise Invalid("neither SAYSO_HOME nor HOME is set; set SAYSO_HOME to the folder of the server")
    return os.path.join(env["HOME"], *below)


def _state(env: Mapping[str, str]) -> str:
    """The folder of the tokens, as the command line finds it."""
    if env.get("SAYSO_HOME"):
        return os.path.abspath(env["SAYSO_HOME"])
    return os.path.join(_folder(env, "XDG_STATE_HOME", ".local", "state"), "sayso")


def _socket_path(env: Mapping[str, str]) -> str:
    """Where a server on this machine listens."""
    runtime = _state(env)
    if not env.get("SAYSO_HOME") and os.path.isabs(env.get("XDG_RUNTIME_DIR", "")):
        runtime = os.path.join(env["XDG_RUNTIME_DIR"], "sayso")
    path = os.path.join(os.path.normpath(runtime), "sayso.sock")
    raw = os.fsencode(path)
    if len(raw) <= (107 if sys.platform == "linux" else 103):
        return path
    return f"/tmp/sayso-{os.getuid()}/{hashlib.sha256(raw).hexdigest()[:16]}.sock"


@dataclass(frozen=True)
class _Address:
    """A socket, or a host behind http or https."""

    name: str
    unix: str = ""
    tls: bool = False
    host: str = ""
    port: int = 0

    @classmethod
    def read(cls, base: str) -> _Address:
        if base.startswith("unix://") or base.startswith("/"):
            path = base[7:] if base.startswith("unix://") else base
            if not path.startswith("/"):
                raise Invalid("the path of a socket must be absolute")
            return cls(path, unix=path)
        try:
            u = urlsplit(base)
            host, port = u.hostname or "", u.port
        except ValueError:
            raise Invalid("the address of the server cannot be read") from None
        if u.scheme not in ("http", "https") or not host or not re.fullmatch(r"[\x21-\x7e]+", base):
            raise Invalid("the address of a server is http://127.0.0.1:PORT, https://HOST or the path of a socket")
        if "@" in u.netloc or u.query or u.fragment or u.path.strip("/") or base.endswith(("?", "#")):
            raise Invalid("the address of a server has no user, path or query")
        if u.scheme == "http" and not _loopback(host):
            raise Invalid("plain HTTP is spoken on loopback alone; use https")
        return cls(f"{u.scheme}://{u.netloc}", "", u.scheme == "https", host, port or (443 if u.scheme == "https" else 80))


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return False
    return "%" not in host and (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


_AGENTS = (
    "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE", "COPILOT_CLI", "CLINE_ACTIVE",
    "AUGMENT_AGENT", "GOOSE_TERMINAL", "AI_AGENT",
)  # fmt: skip


def _under_agent(env: Mapping[str, str]) -> bool:
    """Whether an agent started this program: it must not answer for people then."""
    return any(env.get(name) not in (None, "", "0", "false") for name in _AGENTS)


# ---------------------------------------------------------------- connections


class Cancel:
    """Gives up waits from another thread, with now()."""

    def __init__(self) -> None:
        self._given_up = threading.Event()
        self._lock = threading.Lock()  # guards _open
        self._open: set = set()

    def now(self) -> None:
        self._given_up.set()
        with self._lock:
            for s in self._open:
                with contextlib.suppress(OSError):  # it ended by itself
                    s.shutdown(socket.SHUT_RDWR)

    @property
    def given_up(self) -> bool:
        return self._given_up.is_set()

    def pause(self, seconds: float) -> None:
        self._given_up.wait(seconds)

    @contextlib.contextmanager
    def _over(self, s: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.add(s)
        try:
            if self.given_up:
                raise Cancelled("the wait was given up")
            yield
        finally:
            with self._lock:
                self._open.discard(s)


class _Unix(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path: str) -> None:
        super().__init__("sayso", timeout=10)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
        listens = _peer(self.sock)
        if listens not in (0, os.getuid()):
            self.close()
            who = "it cannot be found out who listens" if listens is None else f"user {listens} listens, not you"
            raise CouldNotFindOut(f"{who}, so no token was sent there; look whose {self._path} is")


def _peer(s: socket.socket) -> Optional[int]:
    """The user who listens at the other end; None if that cannot be told."""
    try:
        if sys.platform == "linux":
            return struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        return struct.unpack("2I", s.getsockopt(0, 1, 8))[1]  # LOCAL_PEERCRED: version, uid, …
    except (OSError, AttributeError, struct.error):
        return None


class _Patience:
    """Paces the attempts of one wait that goes on over broken connections."""

    def __init__(self, retry: float, wait: bool, patience: Optional[float], cancel: Cancel) -> None:
        now = time.monotonic()
        self._retry, self._cancel, self._pause = retry, cancel, 0.0
        self._contact = now if wait else None  # when the server was last heard of
        self.until = None if patience is None else now + patience

    def heard(self) -> None:
        self._contact, self._pause = time.monotonic(), 0.0

    @property
    def left(self) -> Optional[float]:
        return None if self.until is None else max(self.until - time.monotonic(), 0.001)

    def again(self, e: CouldNotFindOut) -> None:
        """Pauses before the next attempt, or raises e if there is none."""
        if self._cancel.given_up:
            raise Cancelled("the wait was given up")
        if not isinstance(e, Unreachable):
            raise e
        now = time.monotonic()
        if not e.refused and self._pause == 0:
            self._contact = now  # it was there a moment ago
        if self._contact is None or now - self._contact > self._retry:
            raise e
        self._pause = min(max(2 * self._pause, 0.05), 2.0)
        pause = self._pause * random.uniform(0.5, 1)
        if self.until is not None and now + pause > self.until:
            raise e
        self._cancel.pause(pause)


# ---------------------------------------------------------------- the client


class Client:
    """The gate for those who ask, and the inbox for those who answer.

    address is http://127.0.0.1:PORT, https://HOST or the path of a socket;
    without one, SAYSO_SERVER or the socket of the server on this machine.
    The token is given, or is in token_file, or in the file that
    SAYSO_TOKEN_FILE names, or it is that of `sayso ask` on this machine.

    retry is for how many seconds a wait keeps trying while a server that
    answered before is away; with wait also one that was never there. A client
    makes no connection before it is used, and may be used from many threads.
    """

    def __init__(
        self, address: str = "", *, token: str = "", token_file: str = "", retry: float = 30.0, wait: bool = False,
        environ: Optional[Mapping[str, str]] = None,
    ) -> None:  # fmt: skip
        env = os.environ if environ is None else environ
        address = address or env.get("SAYSO_SERVER", "")
        self._at = _Address.read(address or _socket_path(env))
        token_file = token_file or env.get("SAYSO_TOKEN_FILE", "")
        if token:
            self._token = _Token(token)
        elif token_file:
            self._token = _token_of(token_file, "type: " + _MAKE_TOKEN)
        elif address:
            raise NoRight("a server elsewhere wants a token; put it in a file, and its path in SAYSO_TOKEN_FILE")
        else:
            mine = os.path.join(_state(env), "tokens", "agent-script")
            self._token = _token_of(mine, "type: " + _MAKE_TOKEN)
        self._retry, self._wait, self._under_agent = retry, wait, _under_agent(env)

    def __repr__(self) -> str:
        return f"<sayso client of {self._at.name}>"

    # -- the gate

    def admit(
        self, call: Call, *, patience: Optional[float] = None, immediate: bool = False, can_edit: bool = False, strict: bool = False,
        asking: bool = False, ask: Optional[dict] = None, facts: Optional[dict] = None,
        present: Optional[Callable[[], Optional[dict]]] = None, cancel: Optional[Cancel] = None,
    ) -> Decision:  # fmt: skip
        """Returns the decision if the call may run, and raises if it may not.

        It waits for people for so many seconds, without patience until there is
        a decision; then it raises Pending, and the same call taken up later goes
        on. If the connection breaks it asks again with the same call. With
        immediate the caller runs the call at once, and need not redeem. With
        can_edit a person may change the arguments, see Decision.of. present is
        called if a person will be asked and returns what they are shown:
        {"type": "text", "content": …}. cancel gives the wait up.
        """
        c = _copied(call)
        c.setdefault("call_id", "sayso-" + secrets.token_hex(16))
        body = {"call": c}
        more = {
            "facts": facts, "asking": asking, "ask": ask, "immediate": immediate, "strict": strict, "can_edit": can_edit,
            "presentation": "later" if present else "",
        }
        body.update({k: v for k, v in more.items() if v})
        if patience is not None and not 0 < patience < 31536000:
            raise Invalid("patience is a number of seconds, more than 0 and less than a year")
        cancel = cancel or Cancel()
        paced = _Patience(self._retry, self._wait, patience, cancel)
        while True:
            try:
                return _checked(self._presented(body, paced.left, present, cancel), c)
            except CouldNotFindOut as e:
                failed = e
            paced.again(failed)

    def _presented(self, body: dict, left: Optional[float], present: Any, cancel: Cancel) -> Decision:
        """Asks once, and sends what people are shown if that is wanted."""
        if left is not None:
            body = {**body, "patience_s": left}
        timeout = None if left is None else left + _GRACE
        try:
            return Decision.read(self._do("POST", "/v1/admissions", body, timeout=timeout, cancel=cancel))
        except PresentationWanted as e:
            wanted = e
        shown = present() if present else None
        if shown is None:
            bare = {k: v for k, v in body.items() if k != "presentation"}
            return Decision.read(self._do("POST", "/v1/admissions", bare, timeout=timeout, cancel=cancel))
        try:
            return Decision.read(self._do("POST", _request(wanted.ticket, "presentation"), shown, timeout=timeout, cancel=cancel))
        except NotFound:  # the server forgot, or is another one now
            lost = Unreachable("sending what a person is shown: not found")
        raise lost

    def redeem(self, decision: Decision, call: Call) -> None:
        """Spends an approval on the call about to run: run it if, and only if,
        this returns. It never tries twice: an approval whose redemption is in
        doubt is spent."""
        receipt = decision.receipt
        if not decision.allowed or not receipt.get("request") or not receipt.get("digest"):
            raise Denied(decision=decision)
        body = {"digest": receipt["digest"], "call": _copied(call)}
        spent = self._do("POST", _request(receipt["request"], "redeem"), body)
        if spent.get("redeemed") is not True or spent.get("id") != receipt["request"] or spent.get("digest") != receipt["digest"]:
            raise Mismatch("the server redeemed something else")

    def report(
        self, request: str = "", *, session: str = "", call_id: str = "", failed: bool = False, interrupt: bool = False,
        exit_status: Optional[int] = None, output: str = "", took: float = 0.0, args: Optional[dict] = None,
    ) -> None:  # fmt: skip
        """Records what became of a call that ran: of a request, or of a call of a session."""
        body: dict = {"failed": failed, "interrupt": interrupt, "took_s": took}
        body.update({k: v for k, v in {"exit_status": exit_status, "output": output or None, "args": args}.items() if v is not None})
        path = _request(request, "outcome") if request else _session(session, "calls", call_id, "outcome")
        self._do("POST", path, body, none=True)

    def withdraw(self, request: str, reason: str = "") -> None:
        """Takes an open request back, and voids an approval that was not redeemed."""
        self._do("POST", _request(request, "withdraw"), {"reason": reason}, none=True)

    def begin(self, session: str, host: str = "") -> None:
        """Records that a session began. admit does so by itself."""
        self._do("POST", _session(session, "begin"), {"host": host}, none=True)

    def end(self, session: str) -> None:
        """Records that a session ended. What was remembered for it ends with it."""
        self._do("POST", _session(session, "end"), {}, none=True)

    def settle(
        self, calls: Sequence[Call], *, patience: Optional[float] = None, can_edit: Any = False, cancel: Optional[Cancel] = None
    ) -> list:
        """Asks about calls that somebody else runs later, all at once, and
        returns for each the Decision or the NotAllowed that it came to. can_edit
        is one for all, or one for each.

        The approvals are redeemed here. While some calls are not decided yet it
        raises the first Pending instead, and nothing is redeemed: the same calls,
        with the same call ids, go on later.
        """
        calls = [_copied(c) for c in calls]
        edits = list(can_edit) if isinstance(can_edit, (list, tuple)) else [can_edit] * len(calls)
        if len(edits) != len(calls):
            raise Invalid("can_edit is one for all, or one for each")

        def admitted(i: int) -> Any:
            return self.admit(calls[i], patience=patience, can_edit=edits[i], cancel=cancel)

        answers = _at_once(len(calls), admitted)
        for a in answers:
            if isinstance(a, Pending):
                raise a
        for i, a in enumerate(answers):
            if isinstance(a, Decision):
                answers[i] = _outcome(lambda d=a, c=calls[i]: self.redeem(d, d.of(c)) or d)
        return answers

    # -- the inbox

    def requests(self, **query: Any) -> list:
        """The open requests, oldest first, or those that the query of GET /v1/requests selects."""
        return self._get("/v1/requests", "requests", query)

    def request(self, id: str) -> dict:
        """One request. The id may be a short one."""
        return self._get("/v1/requests/" + quote(id, ""))

    def content(self, id: str) -> dict:
        """Everything that may be shown of a request, in full."""
        return self._get(_request(id, "content"))

    def answer(self, request: Mapping[str, Any], effect: str, **more: Any) -> Decision:
        """Records an answer, allow or deny, to a request as it was shown, and
        returns the decision that stands. More are scope, cover, for_ (a text such
        as 30m), uses, note and args (edited, complete). It tries once more if the
        connection breaks: the same answer twice is one answer."""
        body = {"digest": request["digest"], "content": request["content"], "effect": effect, **_members(more)}
        return Decision.read(self._twice("POST", _request(request["id"], "answer"), body))

    def answer_group(self, group: str, requests: Sequence[Mapping[str, Any]], effect: str, **more: Any) -> list:
        """Gives one answer to each of the members of a group, as they were shown,
        and returns for each its id with a Decision or a NotAllowed."""
        members = [{"id": r["id"], "digest": r["digest"], "content": r["content"]} for r in requests]
        body = {"members": members, "effect": effect, **_members(more)}
        results = self._do("POST", f"/v1/groups/{quote(group, '')}/answer", body).get("results")
        if type(results) is not list or not all(type(r) is dict for r in results):
            raise CouldNotFindOut("the answer holds no results")
        return [(r.get("id", ""), _outcome(lambda r=r: self._result(r))) for r in results]

    def _result(self, r: dict) -> Decision:
        if r.get("error") is not None:
            raise self._problem(r["error"])
        return Decision.read(r.get("decision"))

    def life(self, id: str) -> list:
        """The events of one request."""
        return self._get(_request(id, "life"), "events")

    def head(self) -> dict:
        """The end of the log."""
        return self._get("/v1/head")

    def grants(self, session: str = "", all: bool = False) -> list:
        """Answers that are remembered, and with all those that ended."""
        return self._get("/v1/grants", "grants", {"session": session, "all": all})

    def revoke(self, grant: str) -> None:
        """Ends a remembered answer."""
        self._do("DELETE", "/v1/grants/" + quote(grant, ""), none=True)

    def sessions(self, since: str = "") -> list:
        """The sessions that made a call since then, the newest first."""
        return self._get("/v1/sessions", "sessions", {"since": since})

    def policies(self, session: str) -> dict:
        """The tool policies of a session."""
        return self._get(_session(session, "policies"), "policies", kind=dict)

    def set_policies(self, session: str, policies: Mapping[str, str]) -> None:
        """Replaces the tool policies of a session."""
        self._do("PUT", _session(session, "policies"), {"policies": dict(policies)}, none=True)

    def mode(self, session: str = "") -> dict:
        """The mode in force for a session, or for all."""
        return self._get("/v1/mode", query={"session": session})

    def set_mode(self, mode: str, session: str = "", for_: str = "") -> None:
        """Sets the mode of a session, or for all. approve_all takes an end."""
        self._do("PUT", "/v1/mode", {"mode": mode, "session": session, "for": for_}, none=True)

    def explain(self, call: Call, facts: Optional[dict] = None) -> dict:
        """What policy says of a call. Nothing is recorded."""
        return self._do("POST", "/v1/policy/check", {"call": _copied(call), "facts": facts or {}})

    def follow(
        self, since: Optional[int] = None, *, session: str = "", types: Iterable[str] = (), request: str = "",
        cancel: Optional[Cancel] = None,
    ) -> Iterator[dict]:  # fmt: skip
        """Yields the events behind a place in the log, or from now on, and goes
        on as it grows. When a connection breaks it resumes behind the last event
        that it yielded: none is missed and none comes twice."""
        cancel = cancel or Cancel()
        paced = _Patience(self._retry, self._wait, None, cancel)
        query = {"session": session, "request": request, "type": list(types)}
        while True:
            try:
                if since is None:
                    since = _seq(self._do("GET", "/v1/head", cancel=cancel))
                with _Exchange(self, "GET", "/v1/events" + _query({**query, "since": since}), None, _SILENCE, cancel) as x:
                    self._streams(x)
                    for event in _events(x):
                        paced.heard()
                        if event is None or _seq(event) <= since:
                            continue
                        since = _seq(event)
                        yield event
                failed: CouldNotFindOut = Unreachable("the stream ended")
            except CouldNotFindOut as e:
                failed = e
            paced.again(failed)

    # -- the wire

    def _streams(self, x: _Exchange) -> None:
        """Raises if the answer is no stream of events."""
        if x.status != 200 or x.kind != "text/event-stream":
            self._answer(x, x.read(1 << 20), none=True)
            raise CouldNotFindOut(f"what answers at {self._at.name} is no sayso server (status {x.status})")

    def _get(self, path: str, member: str = "", query: Optional[dict] = None, kind: type = list) -> Any:
        answer = self._twice("GET", path + _query(query or {}))
        if not member:
            return answer
        if type(answer.get(member)) is not kind:
            raise CouldNotFindOut(f"the answer holds no {member}")
        return answer[member]

    def _twice(self, method: str, path: str, body: Optional[dict] = None) -> Any:
        """Does what changes nothing when it is done again, once more if the
        connection breaks."""
        try:
            return self._do(method, path, body)
        except Unreachable as e:
            if e.refused:
                raise
        return self._do(method, path, body)

    def _do(
        self, method: str, path: str, body: Optional[dict] = None, *, none: bool = False, timeout: Optional[float] = _GRACE,
        cancel: Optional[Cancel] = None,
    ) -> Any:  # fmt: skip
        text = None if body is None else canonical(body).encode("utf-8")
        with _Exchange(self, method, path, text, timeout, cancel) as x:
            return self._answer(x, x.read(_MAX_ANSWER + 1), none)

    def _connection(self) -> http.client.HTTPConnection:
        if self._at.unix:
            return _Unix(self._at.unix)
        if self._at.tls:
            return http.client.HTTPSConnection(self._at.host, self._at.port, timeout=10)
        return http.client.HTTPConnection(self._at.host, self._at.port, timeout=10)

    def _headers(self, body: Optional[bytes]) -> Iterator[tuple]:
        yield "Authorization", self._token.header()
        yield "User-Agent", "sayso"
        yield "Connection", "close"
        if VERSION:
            yield "Sayso-Version", VERSION
        if self._under_agent:
            yield "Sayso-Channel", "agent-process"
        if body is not None:
            yield "Content-Type", "application/json"
            yield "Content-Length", str(len(body))

    def _answer(self, x: _Exchange, text: bytes, none: bool) -> Any:
        """Reads the answer to a request."""
        status, at = x.status, self._at.name
        if status == 204 and none:
            return None
        if status // 100 in (1, 3) or x.kind not in ("application/json", "application/problem+json"):
            raise CouldNotFindOut(f"what answers at {at} is no sayso server (status {status})")
        unread = ""
        try:
            if len(text) > _MAX_ANSWER:
                raise ValueError("it is too long")
            answer = _read(text)
            if type(answer) is not dict:
                raise ValueError("it is no object")
        except ValueError as e:
            unread = str(e)
        if unread:
            raise CouldNotFindOut(f"the answer of {at} cannot be read: {unread}")
        if status == 200 and not none:
            return answer
        if status == 202 and answer.get("code") == "pending" or status >= 400:
            if answer.get("code") == "unavailable" and x.header("Retry-After"):
                raise Unreachable(f"{at}: the server is stopping")
            raise self._problem(answer)
        raise CouldNotFindOut(f"{at} answered with status {status}, which means nothing here")

    def _problem(self, p: Any) -> NotAllowed:
        """The exception for a problem of the API. A code that nobody knows is
        CouldNotFindOut."""
        if type(p) is not dict or type(p.get("code")) is not str:
            return CouldNotFindOut("the answer is no problem that is known")
        text = p.get("detail") or p.get("title") or p["code"]
        text = self._token.hidden(text) if type(text) is str else p["code"]
        ticket = p.get("ticket", "")
        if ticket != "" and (type(ticket) is not str or not re.fullmatch("[0-9a-hjkmnp-tv-z]{36}", ticket)):
            return CouldNotFindOut("the answer names no ticket")
        kind = _BY_CODE.get(p["code"], CouldNotFindOut)
        if kind in (Pending, PresentationWanted) and not ticket:
            return CouldNotFindOut("the answer names no ticket")
        decision = None
        if p.get("decision") is not None:
            got = _outcome(lambda: Decision.read(p["decision"]))
            decision = got if isinstance(got, Decision) else None
        if kind is Decided and decision is not None:
            at = re.sub(r"\.\d+", "", decision.at)
            text = f"already decided: {decision.state} by {decision.who} at {at}"
        if kind is Pending:
            until = p.get("deadline")
            return Pending(text, ticket=ticket, deadline=until if type(until) is str else None, stop=p.get("stop") is True)
        return kind(text, ticket=ticket, decision=decision)


class _Exchange:
    """One request with its response. Whatever breaks is a NotAllowed that hangs
    on no other exception, for those hold what was sent."""

    def __init__(
        self, client: Client, method: str, path: str, body: Optional[bytes], timeout: Optional[float], cancel: Optional[Cancel]
    ) -> None:
        self._client, self._cancel = client, cancel or Cancel()
        self._request = (method, path, body, timeout)
        self._conn = client._connection()
        self._response: Any = None

    def __enter__(self) -> _Exchange:
        self._try(self._connect, refused=True)
        self._socket = self._conn.sock
        with contextlib.ExitStack() as undo:
            undo.callback(self._conn.close)
            undo.enter_context(self._cancel._over(self._socket))
            self._try(self._send)
            self._close = undo.pop_all().close
        return self

    def __exit__(self, *_: Any) -> None:
        if self._response is not None:
            self._response.close()
        self._close()

    def _connect(self) -> None:
        try:
            self._conn.connect()
        except BaseException:
            self._conn.close()
            raise

    def _send(self) -> None:
        method, path, body, timeout = self._request
        self._socket.settimeout(timeout)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._conn.putrequest(method, path, skip_accept_encoding=True)
        for name, value in self._client._headers(body):
            self._conn.putheader(name, value)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it heard all
            self._conn.endheaders(body)
        self._response = self._conn.getresponse()

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def kind(self) -> str:
        return self.header("Content-Type").split(";")[0].strip().lower()

    def header(self, name: str) -> str:
        return self._response.getheader(name) or ""

    def read(self, limit: int) -> bytes:
        text = bytearray()
        while len(text) < limit:  # bit by bit: some Pythons set aside as much as they are asked for
            part = self._try(self._response.read, min(1 << 16, limit - len(text)))
            if not part:
                break
            text += part
        if self._response.length and len(text) < limit:
            raise Unreachable(f"{self._client._at.name}: the answer was cut short")
        return bytes(text)

    def readline(self, limit: int) -> bytes:
        return self._try(self._response.readline, limit)

    def _try(self, do: Callable, *args: Any, refused: bool = False) -> Any:
        at, why = self._client._at, ""
        try:
            return do(*args)
        except (http.client.IncompleteRead, http.client.RemoteDisconnected):
            why = "the answer was cut short"
        except OSError as e:
            why = self._client._token.hidden(e.strerror or str(e) or type(e).__name__)
        except (http.client.HTTPException, ValueError):
            pass
        if self._cancel.given_up:
            raise Cancelled("the wait was given up")
        if not why:
            raise CouldNotFindOut(f"what answers at {at.name} is no sayso server")
        hint = "; is `sayso serve` running?" if refused and at.unix else ""
        raise Unreachable(f"{at.name}: {why}{hint}", refused)


def _copied(c: Call) -> Call:
    """A copy of a call that nobody changes while it waits."""
    check_call(c)
    return _read(canonical(c).encode("utf-8"))


def _members(more: dict) -> dict:
    """The members of an answer: for_ stands for the word that Python keeps."""
    return {name.rstrip("_"): value for name, value in more.items() if value not in (None, "", 0) or name == "args" and value is not None}


def _request(id: str, verb: str) -> str:
    return f"/v1/requests/{quote(id, '')}/{verb}"


def _session(session: str, *rest: str) -> str:
    return "/".join(["/v1/sessions", quote(session, "")] + [quote(r, "") for r in rest])


def _query(members: Mapping[str, Any]) -> str:
    pairs = []
    for name, value in members.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is not None and v != "" and v is not False:
                pairs.append((name, "true" if v is True else str(v)))
    return "?" + urlencode(pairs) if pairs else ""


def _seq(event: Any) -> int:
    n = event.get("seq") if type(event) is dict else None
    if type(n) is not int or n < 0:
        raise CouldNotFindOut("an event cannot be read: it has no place in the log")
    return n


def _events(stream: _Exchange) -> Iterator[Optional[dict]]:
    """The events of a stream of server-sent events, and None for each beat."""
    data: list = []
    size = 0
    while True:
        line = stream.readline(_MAX_EVENT + 1)
        size += len(line)
        if size > _MAX_EVENT:
            raise CouldNotFindOut("an event is too long")
        if not line.endswith(b"\n"):
            return  # at the end, or cut off in the middle, which does not count
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        if line:
            continue
        yield _event(b"\n".join(data)) if data else None
        data, size = [], 0


def _event(text: bytes) -> dict:
    unread = ""
    try:
        return _read(text)
    except ValueError as e:
        unread = str(e)
    raise CouldNotFindOut(f"an event cannot be read: {unread}")


def _outcome(do: Callable[[], Any]) -> Any:
    """What do returns, or the NotAllowed that it raises."""
    try:
        return do()
    except NotAllowed as no:
        return no


def _at_once(n: int, do: Callable[[int], Any]) -> list:
    """The outcomes of n waits, each in a thread of its own."""
    out: list = [CouldNotFindOut("it was not asked")] * n

    def one(i: int) -> None:
        out[i] = _outcome(lambda: do(i))

    threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


# ---------------------------------------------------------------- guarding functions


async def awaited(wait: Callable, *args: Any, **named: Any) -> Any:
    """Waits for a method of a client, as admit or settle, without stopping the
    event loop. If the task is cancelled the wait is given up.

        decision = await sayso.awaited(client.admit, call, patience=60)
    """
    cancel = named.setdefault("cancel", Cancel())
    loop = asyncio.get_running_loop()
    done: asyncio.Future = loop.create_future()

    def settle(out: Any, error: Optional[BaseException]) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(out)
        else:
            done.set_exception(error)

    def run() -> None:  # in a thread of its own: a pool would be full of waits
        out, error = None, None
        try:
            out = wait(*args, **named)
        except BaseException as e:
            error = e
        with contextlib.suppress(RuntimeError):  # the loop ended, and nobody waits any more
            loop.call_soon_threadsafe(settle, out, error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return await done
    except asyncio.CancelledError:
        cancel.now()
        raise


def guard(
    client: Any = None, *, tool: str = "", session: Any = "", patience: Optional[float] = None, can_edit: bool = True, strict: bool = False,
    skip: Sequence[str] = (), present: Optional[Callable[[dict], Optional[dict]]] = None,
    description: Any = "", payload: Optional[Callable[[dict], dict]] = None, ask: Optional[Callable[[dict], Any]] = None, **members: Any,
) -> Callable:  # fmt: skip
    """Puts the gate before a function, plain or async:

        @sayso.guard(session="s1")
        def deploy(target: str) -> str: ...

    A call of it runs on a yes and raises NotAllowed otherwise. It runs with the
    arguments that were allowed, edited ones if a person edited them; the
    approval is redeemed just before, and what became of it is reported after.

    tool is the function's name unless it is given; client a Client, a function
    that returns one, or nothing for Client(); session a text, or a function that
    returns one. Parameters named in skip are not part of the call: nobody is
    asked about what they hold. All others must be JSON. present is called with
    the arguments if a person will be asked. With strict nobody is, and what
    would be asked about is denied. members are more of the call, as kind, server,
    cwd and group_id.

    What a function knows of its own calls, each told by a function of the
    arguments: description is what the request is called (or a text, for all),
    payload what a wider remembered yes matches on, and ask whether there is
    anything to ask: False or None for no, True for a call that must be answered,
    or a dict with required, description, payload, risk, group_id and display.
    That there is nothing to ask, and a payload, count only for a token of the
    kind tool. Policy has the last word in any case.
    """

    def around(f: Callable) -> Callable:
        if inspect.isgeneratorfunction(f) or inspect.isasyncgenfunction(f):
            raise TypeError("a generator runs bit by bit, after it was called: guard what it calls")
        says = {"description": description, "payload": payload, "ask": ask}
        g = _Guard(f, client, tool, session, tuple(skip), members, says)
        options = {"patience": patience, "can_edit": can_edit, "strict": strict}

        def more(c: Call) -> dict:
            shown = {"present": functools.partial(present, _copied(c)["args"])} if present else {}
            return {**options, **g.says(c), **shown}

        @functools.wraps(f)
        def run(*args: Any, **named: Any) -> Any:
            c, bound = g.call(args, named)
            d = g.client.admit(c, **more(c))
            g.fit(bound, c, d)
            g.client.redeem(d, d.of(c))
            with g.reported(d.id):
                return f(*bound.args, **bound.kwargs)

        @functools.wraps(f)
        async def run_async(*args: Any, **named: Any) -> Any:
            c, bound = g.call(args, named)
            d = await awaited(g.client.admit, c, **more(c))
            g.fit(bound, c, d)
            await _off_loop(g.client.redeem, d, d.of(c))
            with g.reported(d.id):
                return await f(*bound.args, **bound.kwargs)

        return run_async if inspect.iscoroutinefunction(f) else run

    if callable(client) and not isinstance(client, Client) and not inspect.signature(client).parameters == {}:
        raise TypeError("write @sayso.guard(), with parentheses")
    return around


async def _off_loop(do: Callable, *args: Any) -> Any:
    """Does what is short without stopping the event loop, to its end even if
    the task is cancelled meanwhile."""
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, functools.partial(do, *args)))


class _Guard:
    """What the two kinds of guarded functions have in common."""

    def __init__(self, f: Callable, client: Any, tool: str, session: Any, skip: tuple, members: dict, says: dict) -> None:
        self._signature = inspect.signature(f)
        self._client, self._session, self._skip = client, session, skip
        self._lock = threading.Lock()  # guards _client while it is made
        self._members = {"tool": tool or f.__name__, **members}
        if isinstance(says["description"], str):
            text = says.pop("description")
            self._members.update({"description": text} if text else {})
        self._says = {k: v for k, v in says.items() if v is not None}
        names = [n for n, p in self._signature.parameters.items() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        unknown = [n for n in skip if n not in self._signature.parameters]
        if names or unknown:
            raise TypeError(f"guard: {(names or unknown)[0]} " + ("has no name of its own to ask about" if names else "is no parameter"))

    @property
    def client(self) -> Client:
        with self._lock:
            if not isinstance(self._client, Client):
                self._client = self._client() if self._client else Client()
            return self._client

    def call(self, args: tuple, named: dict) -> tuple:
        """The call that a call of the function is, and its arguments as those
        that will be asked about: what the caller still holds may change."""
        bound = self._signature.bind(*args, **named)
        bound.apply_defaults()
        asked = {n: v for n, v in bound.arguments.items() if n not in self._skip}
        for name, value in asked.items():
            try:
                canonical(value)
            except Invalid as e:
                raise Invalid(f"the argument {name}: {e.text}; pass JSON, or name it in skip") from None
        session = self._session() if callable(self._session) else self._session
        c = call(args=asked, **({"session": session} if session else {}), **self._members)
        bound.arguments.update(_copied(c)["args"])
        return c, bound

    def says(self, c: Call) -> dict:
        """What the function says of a call, as admit takes it."""
        if not self._says:
            return {}
        said: Any = self._told("ask", c) if "ask" in self._says else True
        if said is None or said is False:
            return {"asking": True}
        if said is not True and not isinstance(said, dict):
            raise Invalid("ask returns True, False, None or a dict")
        given = {} if said is True else said
        told = {k: self._told(k, c) for k in ("description", "payload") if k in self._says and k not in given}
        return {"asking": True, "ask": {"required": True, **told, **given}}

    def _told(self, name: str, c: Call) -> Any:
        return self._says[name](_copied(c)["args"])

    def fit(self, bound: inspect.BoundArguments, c: Call, d: Decision) -> None:
        """Takes edited arguments over, if they are the same ones with other
        values of the same types."""
        if d.args is None:
            return
        if d.args.keys() != c["args"].keys():
            raise Mismatch("the edited arguments are not those of the function")
        for name, value in d.args.items():
            kind = _PLAIN.get(self._signature.parameters[name].annotation)
            if kind and type(value) not in kind:
                raise Mismatch(f"the edited argument {name} is not of the type that the function takes")
        bound.arguments.update(_read(canonical(d.args).encode("utf-8")))

    @contextlib.contextmanager
    def reported(self, request: str) -> Iterator[None]:
        """Reports what becomes of a call. A report that does not arrive changes
        nothing about it: the log says that its outcome is unknown."""
        begun = time.monotonic()
        failed, interrupt = True, False
        try:
            yield
            failed = False
        except Exception:
            raise
        except BaseException:
            interrupt = True
            raise
        finally:
            with contextlib.suppress(NotAllowed):
                self.client.report(request, failed=failed, interrupt=interrupt, took=time.monotonic() - begun)


_PLAIN: dict = {str: (str,), int: (int,), bool: (bool,), float: (float, int), list: (list,), dict: (dict,)}
_PLAIN.update({kind.__name__: allowed for kind, allowed in list(_PLAIN.items())})


# ---------------------------------------------------------------- frameworks that defer approvals
#
# Pure functions between what a framework asks and calls, and between what
# Client.settle returns and what the framework wants to hear. None of them
# imports the framework. A run is resumed in four steps:
#
#     calls = sayso.langchain_calls(request, key=interrupt.id, session=thread)
#     answers = client.settle(calls, patience=60)       # Pending: come back later, with the same
#     resume = sayso.langchain_decisions(request, answers)
#     agent.invoke(Command(resume=resume), …)
#
# What was edited is handed over as the framework takes it; what cannot be said
# to it is a no.


def _member(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def _arguments(of: Any) -> dict:
    """Arguments as frameworks have them: an object, or its text."""
    if isinstance(of, str):
        of = _read_text(of, "arguments") if of.strip() else {}
    if of is None:
        of = {}
    if type(of) is not dict:
        raise Invalid("the arguments of a call are no object")
    return of


def _answered(asked: Sequence[Any], answers: Sequence[Any]) -> list:
    if len(asked) != len(answers) or not all(isinstance(a, (Decision, NotAllowed)) for a in answers):
        raise Invalid("the answers are not those of settle to these calls")
    for a in answers:
        if isinstance(a, Pending):
            raise a
    return [(x, a if isinstance(a, NotAllowed) or a.allowed else Denied(decision=a)) for x, a in zip(asked, answers)]


def pydantic_ai_calls(requests: Any, *, session: str, **members: Any) -> list:
    """The calls that DeferredToolRequests wants approved."""
    return [
        call(_member(p, "tool_name"), _arguments(_member(p, "args")), session=session, call_id=_member(p, "tool_call_id"), **members)
        for p in _member(requests, "approvals")
    ]


def pydantic_ai_results(requests: Any, answers: Sequence[Any], *, approved: Callable = dict, denied: Callable = dict) -> dict:
    """The approvals of DeferredToolResults: by id True, ToolApproved or
    ToolDenied. Give these two classes as approved and denied; without, they are
    dicts of the same shape.

        DeferredToolResults(approvals=sayso.pydantic_ai_results(requests, answers, approved=ToolApproved, denied=ToolDenied))
    """
    out: dict = {}
    for part, a in _answered(_member(requests, "approvals"), answers):
        id = _member(part, "tool_call_id")
        if isinstance(a, NotAllowed):
            out[id] = denied(message=str(a), kind="tool-denied")
        else:
            out[id] = True if a.args is None else approved(override_args=a.args, kind="tool-approved")
    return out


def langchain_calls(request: Any, *, key: str, session: str, **members: Any) -> list:
    """The calls that an interrupt of the human-in-the-loop middleware asks about.
    They have no ids there, so key tells one interrupt from another: its id. What
    the middleware describes is shown as the agent's words."""
    if not key:
        raise Invalid("key is the id of the interrupt")
    out = []
    for i, a in enumerate(_member(request, "action_requests")):
        text = _member(a, "description")
        said = {"said": {"description": text}} if isinstance(text, str) and text else {}
        out.append(call(_member(a, "name"), _arguments(_member(a, "args")), session=session, call_id=f"{key}:{i}", **{**said, **members}))
    return out


def langchain_can_edit(request: Any) -> list:
    """Which of the calls may be edited: settle(calls, can_edit=…) takes it."""
    return ["edit" in _allowed(request, _member(a, "name")) for a in _member(request, "action_requests")]


def _allowed(request: Any, name: str) -> Sequence[str]:
    found = [c for c in _member(request, "review_configs") or () if _member(c, "action_name") == name]
    return (_member(found[0], "allowed_decisions") or ()) if len(found) == 1 else ()


def langchain_decisions(request: Any, answers: Sequence[Any]) -> dict:
    """What resumes the interrupt: {"decisions": […]}, one for each call, in order."""
    out = []
    for action, a in _answered(_member(request, "action_requests"), answers):
        name = _member(action, "name")
        if isinstance(a, NotAllowed):
            made = {"type": "reject" if "reject" in _allowed(request, name) else "respond", "message": str(a)}
        elif a.args is not None:
            made = {"type": "edit", "edited_action": {"name": name, "args": a.args}}
        else:
            made = {"type": "approve"}
        if made["type"] not in _allowed(request, name):
            raise Invalid(f"the middleware takes no {made['type']} for this tool; name it in allowed_decisions")
        out.append(made)
    return {"decisions": out}


def openai_agents_calls(interruptions: Sequence[Any], *, session: str, **members: Any) -> list:
    """The calls that the interruptions of a run of the OpenAI Agents SDK ask about."""
    out = []
    for item in interruptions:
        raw = _member(item, "raw_item")
        id = _member(item, "call_id") or _member(raw, "call_id") or _member(raw, "id")
        if not isinstance(id, str) or not id:
            raise Invalid("an interruption has no call id")
        name, args = (_member(item, n) or _member(raw, n) for n in ("name", "arguments"))
        caller = {"caller": "openai-agents/" + _member(_member(item, "agent"), "name")} if _member(item, "agent") else {}
        out.append(call(name, _arguments(args), session=session, call_id=id, **{**caller, **members}))
    return out


def openai_agents_apply(state: Any, interruptions: Sequence[Any], answers: Sequence[Any]) -> None:
    """Approves and rejects the interruptions in the state of the run. The SDK
    takes no edited arguments, so settle must not be told that it can."""
    said = _answered(interruptions, answers)
    for item, a in said:
        if isinstance(a, NotAllowed) or a.args is not None:
            text = str(a) if isinstance(a, NotAllowed) else "The arguments were edited, which cannot be done here. Nothing ran."
            state.reject(item, rejection_message=text)
        else:
            state.approve(item)

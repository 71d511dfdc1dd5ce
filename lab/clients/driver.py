"""Does what the tests say with the client for Python: one line of JSON in for
each thing to do, one or more out. Each is done in a thread of its own. The
clock of the wall jumps about, for nothing may depend on it."""

import json
import os
import queue
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "python"))
import sayso  # noqa: E402

time.time = lambda: random.uniform(0, 4e9)

says = threading.Lock()
waits = {}  # by the id of what is being done: its Cancel, and the queue of what it is given meanwhile
clients = {}


def say(line):
    text = json.dumps(line, separators=(",", ":"), default=vars)
    with says:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def decision(d):
    out = {k: v for k, v in vars(d).items() if v not in ("", None, 0) or k in ("digest", "id")}
    return {**out, "by": list(d.by), "receipt": dict(d.receipt) or None} if d.receipt else {**{k: v for k, v in out.items() if k != "receipt"}, "by": list(d.by)}


def error(no):
    out = {"class": type(no).__name__, "code": no.code, "detail": no.text, "told": str(no), "ticket": no.ticket}
    out["context"] = no.__context__ is not None or no.__cause__ is not None
    if no.decision is not None:
        out["decision"] = decision(no.decision)
    if isinstance(no, sayso.Pending):
        out["deadline"], out["stop"] = no.deadline, no.stop
    return out


def receipt(of):
    return sayso.Decision(effect="allow", state="allowed", id=of["request"], receipt={k: of[k] for k in ("request", "digest")})


def follow(c, id, cancel, given, query):
    for event in c.follow(query.pop("since"), cancel=cancel, **query):
        say({"id": id, "event": event})


def admit(c, id, cancel, given, text, presents, **more):
    def present():
        say({"id": id, "present": True})
        return given.get()

    call = sayso.parse_call(text)
    return decision(c.admit(call, present=present if presents else None, cancel=cancel, **more))


def group(c, group, members, effect, **more):
    out = []
    for id, a in c.answer_group(group, members, effect, **more):
        out.append({"id": id, "decision": decision(a)} if isinstance(a, sayso.Decision) else {"id": id, "error": error(a)})
    return out


def settled(answers):
    return [{"decision": decision(a)} if isinstance(a, sayso.Decision) else {"error": error(a)} for a in answers]


deeds = {
    "admit": lambda c, id, cancel, given, a: admit(c, id, cancel, given, a.pop("call"), a.pop("presents"), **a),
    "redeem": lambda c, id, cancel, given, a: c.redeem(receipt(a["receipt"]), sayso.parse_call(a["call"])),
    "report": lambda c, id, cancel, given, a: c.report(**a),
    "withdraw": lambda c, id, cancel, given, a: c.withdraw(**a),
    "begin": lambda c, id, cancel, given, a: c.begin(**a),
    "end": lambda c, id, cancel, given, a: c.end(**a),
    "settle": lambda c, id, cancel, given, a: settled(c.settle([sayso.parse_call(t) for t in a.pop("calls")], cancel=cancel, **a)),
    "requests": lambda c, id, cancel, given, a: c.requests(**a),
    "request": lambda c, id, cancel, given, a: c.request(**a),
    "content": lambda c, id, cancel, given, a: c.content(**a),
    "answer": lambda c, id, cancel, given, a: decision(c.answer(a.pop("request"), a.pop("effect"), **a)),
    "answer_group": lambda c, id, cancel, given, a: group(c, **a),
    "life": lambda c, id, cancel, given, a: c.life(**a),
    "follow": lambda c, id, cancel, given, a: follow(c, id, cancel, given, a),
    "head": lambda c, id, cancel, given, a: c.head(),
    "grants": lambda c, id, cancel, given, a: c.grants(**a),
    "revoke": lambda c, id, cancel, given, a: c.revoke(**a),
    "sessions": lambda c, id, cancel, given, a: c.sessions(**a),
    "policies": lambda c, id, cancel, given, a: c.policies(**a),
    "set_policies": lambda c, id, cancel, given, a: c.set_policies(**a),
    "mode": lambda c, id, cancel, given, a: c.mode(**a),
    "set_mode": lambda c, id, cancel, given, a: c.set_mode(**a),
    "explain": lambda c, id, cancel, given, a: c.explain(sayso.parse_call(a["call"])),
    "digest": lambda c, id, cancel, given, a: sayso.digest(sayso.parse_call(a["call"])),
}


def do(line, cancel, given):
    id = line["id"]
    try:
        c = None
        if line.get("address"):
            key = (line["address"], line["token"])
            c = clients.get(key) or clients.setdefault(key, sayso.Client(*key[:1], token=key[1], retry=line.get("retry", 30), environ={}))
        say({"id": id, "out": deeds[line["op"]](c, id, cancel, given, line.get("in") or {})})
    except sayso.NotAllowed as no:
        say({"id": id, "error": error(no)})
    except BaseException as e:  # a fault of the client, or of this driver
        say({"id": id, "error": {"class": type(e).__name__, "code": "fault", "detail": str(e), "told": "", "ticket": ""}})
    finally:
        waits.pop(id, None)


for text in sys.stdin:
    line = json.loads(text)
    if line["op"] in ("cancel", "presented"):
        cancel, given = waits.get(line["id"], (None, None))
        if cancel and line["op"] == "cancel":
            cancel.now()
        elif given:
            given.put(line["in"])
        continue
    cancel, given = waits[line["id"]] = (sayso.Cancel(), queue.Queue())
    threading.Thread(target=do, args=(line, cancel, given), daemon=True).start()

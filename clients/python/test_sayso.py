"""Tests of what the promises of Gate and Inbox say nothing about, against a real
server: CLIENTS_TEST_SOCKET is its socket. Type: go test ./lab/clients"""

import asyncio
import dataclasses
import itertools
import json
import os
import pickle
import tempfile
import threading
import traceback
import typing
import unittest

import sayso

SOCKET = os.environ.get("CLIENTS_TEST_SOCKET", "")
AGENT, TOOL, PERSON = "sayso_agent_SECRETSECRET", "sayso_tool_SECRETSECRET", "sayso_person_SECRETSECRET"
VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "vectors")
ids = itertools.count()


def agent():
    return sayso.Client(SOCKET, token=AGENT, environ={})


def tool():
    return sayso.Client(SOCKET, token=TOOL, environ={})


def person():
    return sayso.Client(SOCKET, token=PERSON, environ={})


class Live(unittest.TestCase):
    """A test with a session of its own, and a person who answers it."""

    def setUp(self):
        if not SOCKET:
            self.skipTest("no server; type: go test ./lab/clients")
        self.session = f"{self.id().rsplit('.', 1)[1]}-{next(ids)}"
        self.cancel = sayso.Cancel()
        self.addCleanup(self.cancel.now)

    def answers(self, effect, **more):
        """Has the person answer all that is asked in this session."""

        def answer():
            inbox = person()
            try:
                for e in inbox.follow(0, session=self.session, types=["approval.requested"], cancel=self.cancel):
                    request = inbox.request(e["payload"]["id"])
                    if request["state"] in ("open", "parked"):
                        inbox.answer(request, effect, **more)
            except sayso.Cancelled:
                pass

        t = threading.Thread(target=answer, daemon=True)
        t.start()
        self.addCleanup(t.join)
        self.addCleanup(self.cancel.now)

    def lived(self):
        """The types of the events of this session's calls, in order."""
        last, out = person().head()["seq"], []
        for e in person().follow(0):
            if e["session_id"] == self.session and e["approval_id"]:
                out.append(e["type"].split(".")[1])
            if e["seq"] >= last:
                return out


class Guard(Live):
    def deploy(self, **options):
        ran = []

        @sayso.guard(agent, tool="bash", session=self.session, **options)
        def deploy(command: str, times: int = 1) -> str:
            ran.append((command, times))
            return f"{command} x {times}"

        return deploy, ran

    def test_yes(self):
        deploy, ran = self.deploy()
        self.answers("allow")
        self.assertEqual(deploy("make"), "make x 1")
        self.assertEqual(ran, [("make", 1)])
        self.assertEqual(self.lived(), ["requested", "answered", "resolved", "redeemed", "finished"])

    def test_no(self):
        deploy, ran = self.deploy()
        self.answers("deny", note="not on a Friday")
        with self.assertRaises(sayso.Denied) as no:
            deploy("make")
        self.assertEqual((no.exception.note, no.exception.who, ran), ("not on a Friday", "ana", []))
        self.assertRegex(str(no.exception), r"^Denied by ana \(ticket ....\): not on a Friday$")

    def test_edited(self):
        deploy, ran = self.deploy()
        self.answers("allow", args={"command": "make -n", "times": 2})
        self.assertEqual(deploy("make"), "make -n x 2")
        self.assertEqual(ran, [("make -n", 2)])

    def test_edits_that_do_not_fit(self):
        for args in ({"command": "make"}, {"command": 7, "times": 1}, {"command": "x", "times": True}, {"command": "x", "times": 1, "more": 1}):
            with self.subTest(args):
                self.session = f"misfit-{next(ids)}"
                self.cancel = sayso.Cancel()
                deploy, ran = self.deploy()
                self.answers("allow", args=args)
                with self.assertRaises(sayso.Mismatch):
                    deploy("make")
                self.cancel.now()
                self.assertEqual(ran, [])
                self.assertNotIn("redeemed", self.lived())

    def test_nobody_answers(self):
        deploy, ran = self.deploy(patience=0.05)
        with self.assertRaises(sayso.Pending) as no:
            deploy("make")
        self.assertEqual(len(no.exception.ticket), 36)
        self.assertFalse(no.exception.stop)
        self.assertEqual(ran, [])

    def test_nobody_listens(self):
        @sayso.guard(sayso.Client("/nonexistent/s", token=AGENT, environ={}), tool="bash")
        def deploy(command):
            self.fail("it ran")

        with self.assertRaises(sayso.CouldNotFindOut) as no:
            deploy("make")
        self.assertIn("sayso serve", str(no.exception))

    def test_what_runs_is_what_was_asked_about(self):
        ran, given = [], {"to": ["ana"]}
        asked = threading.Event()

        @sayso.guard(agent, tool="bash", session=self.session, present=lambda args: asked.set())
        def send(options: dict):
            ran.append(options)

        t = threading.Thread(target=send, args=(given,))
        t.start()
        self.assertTrue(asked.wait(60))
        given["to"].append("everybody")
        self.answers("allow")
        t.join()
        self.assertEqual(ran, [{"to": ["ana"]}])

    def test_what_fails_is_reported(self):
        for error, interrupt in ((ValueError, False), (KeyboardInterrupt, True)):

            @sayso.guard(agent, tool="file-read", session=self.session, call_id=f"c{interrupt}")
            def read(path):
                raise error

            with self.assertRaises(error):
                read(path=f"a{interrupt}")
        outcomes = [r["outcome"] for r in person().requests(session=self.session, state=["allowed"])]
        self.assertEqual(outcomes, ["failed", "failed"])

    def test_skipped(self):
        with self.assertRaises(TypeError):
            sayso.guard(skip=["nothing"])(lambda a: a)

        @sayso.guard(agent, tool="file-read", session=self.session, skip=["connection"])
        def read(path, /, connection):
            return path, connection

        self.assertEqual(read("a", self), ("a", self))
        with self.assertRaises(sayso.Invalid):
            read(object(), self)

    def test_what_cannot_be_guarded(self):
        for f in (lambda *a: a, lambda **k: k, lambda: (yield)):
            with self.assertRaises(TypeError):
                sayso.guard(agent)(f)
        with self.assertRaises(TypeError):

            @sayso.guard
            def forgot(a):
                pass


class Says(Live):
    """What a function says of its own calls. No rule speaks about send_email."""

    def send(self, who=tool, **says):
        sent = []

        @sayso.guard(who, session=self.session, patience=0.05, **says)
        def send_email(to: str, subject: str, body: str) -> None:
            sent.append(to)

        return send_email, sent

    def asked(self, send, *args):
        """The request that a call waits for."""
        with self.assertRaises(sayso.Pending) as no:
            send(*args)
        return person().request(no.exception.ticket)

    def test_description_and_payload(self):
        send, sent = self.send(description=lambda a: f"Send email to {a['to']}: {a['subject']}", payload=lambda a: {"to": a["to"]})
        request = self.asked(send, "ana", "lunch", "at noon")
        self.assertEqual((request["description"], request["cause"]), ("Send email to ana: lunch", "tool-required"))
        self.assertEqual(request["ignores"], ["body", "subject"])
        person().answer(request, "allow", scope="session", cover="fingerprint")
        for subject in ("lunch", "dinner"):
            send("ana", subject, "at eight")
        self.assertEqual(sent, ["ana", "ana"])
        self.assertEqual(self.asked(send, "ben", "lunch", "at noon")["state"], "parked")

    def test_some_calls_are_not_asked_about(self):
        for nothing in (False, None):
            send, sent = self.send(ask=lambda a: nothing if a["to"].endswith("@example.org") else True)
            send("ana@example.org", "s", "b")
            self.assertEqual(sent, ["ana@example.org"])
        self.asked(send, "ana@elsewhere.org", "s", "b")

    def test_an_agent_does_not_say_that_there_is_nothing_to_ask(self):
        for ask in (lambda a: False, lambda a: {"required": False}):
            self.session += "x"
            send, sent = self.send(agent, ask=ask, payload=lambda a: {})
            request = self.asked(send, "ana", "s", "b")
            self.assertEqual([c["cover"] for c in request["covers"] if c["cover"] == "fingerprint"], [])
            self.assertEqual(sent, [])

    def test_strict(self):
        optional, sent = self.send(strict=True, ask=lambda a: {"required": False, "description": "send"})
        optional("ana", "s", "b")
        required, _ = self.send(strict=True, ask=lambda a: True)
        with self.assertRaises(sayso.Denied):
            required("ben", "s", "b")
        self.assertEqual(sent, ["ana"])

    def test_what_it_says_cannot_change_the_call(self):
        def ask(args):
            args["to"] = "everybody"
            return False

        send, sent = self.send(ask=ask)
        send("ana", "s", "b")
        self.assertEqual(sent, ["ana"])

    def test_what_cannot_be_said(self):
        for ask in (lambda a: "yes", lambda a: 0, lambda a: {"required": "no"}, lambda a: {"needed": True}, lambda a: a["nobody"]):
            send, sent = self.send(ask=ask)
            with self.assertRaises((sayso.Invalid, KeyError)):
                send("ana", "s", "b")
            self.assertEqual(sent, [])


class Async(Live):
    def test_yes(self):
        self.answers("allow")

        @sayso.guard(agent, tool="bash", session=self.session)
        async def deploy(command: str) -> str:
            await asyncio.sleep(0)
            return command

        async def three():
            return await asyncio.gather(*(deploy(f"make {i}") for i in range(12)))

        self.assertEqual(asyncio.run(three()), [f"make {i}" for i in range(12)])
        self.assertEqual(self.lived().count("finished"), 12)

    def test_cancelled(self):
        ran = []

        @sayso.guard(agent, tool="bash", session=self.session)
        async def deploy(command: str):
            ran.append(command)

        async def impatient():
            task = asyncio.create_task(deploy("make"))
            while not person().requests(session=self.session):
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(impatient())
        for e in person().follow(0, session=self.session, types=["approval.parked"]):
            break
        self.assertEqual((ran, self.lived()), ([], ["requested", "parked"]))


# The shapes of the frameworks, as their documentation has them.


@dataclasses.dataclass
class ToolCallPart:
    tool_name: str
    args: typing.Union[str, dict, None]
    tool_call_id: str


@dataclasses.dataclass
class DeferredToolRequests:
    calls: list
    approvals: list
    metadata: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class ToolApproved:
    override_args: typing.Optional[dict] = None
    kind: str = "tool-approved"


@dataclasses.dataclass
class ToolDenied:
    message: str = "The tool call was denied."
    kind: str = "tool-denied"


@dataclasses.dataclass
class Agent:
    name: str


@dataclasses.dataclass
class ToolApprovalItem:
    agent: Agent
    raw_item: typing.Any
    name: str
    arguments: str


class RunState:
    def __init__(self):
        self.said = []

    def approve(self, approval_item, always_approve=False):
        self.said.append(("approve", approval_item.name, always_approve))

    def reject(self, approval_item, always_reject=False, *, rejection_message=None):
        self.said.append(("reject", approval_item.name, always_reject, rejection_message))


class Frameworks(Live):
    def test_settle_waits_for_all(self):
        calls = [
            sayso.call("file-read", {"path": "a"}, session=self.session, call_id="c1"),
            sayso.call("bash", {"command": "make"}, session=self.session, call_id="c2"),
            sayso.call("delegate", {"prompt": "a"}, session=self.session, call_id="c3"),
        ]
        for _ in range(2):
            with self.assertRaises(sayso.Pending) as waits:
                agent().settle(calls, patience=0.05)
        self.assertNotIn("redeemed", self.lived())
        person().answer(person().request(waits.exception.ticket), "allow")
        first, second, third = agent().settle(calls, patience=10)
        self.assertTrue(first and second and second.who == "ana")
        self.assertIsInstance(third, sayso.Denied)
        self.assertEqual(self.lived().count("redeemed"), 2)
        self.assertIsInstance(agent().settle(calls[:1], patience=10)[0], sayso.Spent)

    def test_a_denial_is_told_again(self):
        calls = [sayso.call("bash", {"command": f"make {i}"}, session=self.session, call_id=f"c{i}") for i in range(2)]
        with self.assertRaises(sayso.Pending):
            agent().settle(calls, patience=0.05)
        first, second = sorted(person().requests(session=self.session), key=lambda r: r["call_id"])
        person().answer(first, "deny", note="no")
        with self.assertRaises(sayso.Pending):
            agent().settle(calls, patience=0.05)
        person().answer(second, "allow")
        no, yes = agent().settle(calls, patience=10)
        self.assertEqual((no.note, bool(yes)), ("no", True))

    def test_pydantic_ai(self):
        requests = DeferredToolRequests([], [
            ToolCallPart("file-read", {"path": "a"}, "p1"), ToolCallPart("bash", '{"command":"make"}', "p2"), ToolCallPart("delegate", None, "p3"),
        ])  # fmt: skip
        self.answers("allow", args={"command": "make -n"})
        answers = agent().settle(sayso.pydantic_ai_calls(requests, session=self.session), patience=60, can_edit=True)
        results = sayso.pydantic_ai_results(requests, answers, approved=ToolApproved, denied=ToolDenied)
        self.assertIs(results["p1"], True)
        self.assertEqual(results["p2"], ToolApproved({"command": "make -n"}))
        self.assertRegex(results["p3"].message, "^Denied by policy")
        plain = sayso.pydantic_ai_results(dataclasses.asdict(requests), answers)
        self.assertEqual(plain["p2"], {"override_args": {"command": "make -n"}, "kind": "tool-approved"})

    def test_langchain(self):
        request = {
            "action_requests": [
                {"name": "file-read", "args": {"path": "a"}, "description": "reads"},
                {"name": "bash", "args": {"command": "make"}, "description": "runs"},
                {"name": "delegate", "args": {"prompt": "x"}, "description": "asks"},
            ],
            "review_configs": [
                {"action_name": "file-read", "allowed_decisions": ["approve", "reject"]},
                {"action_name": "bash", "allowed_decisions": ["approve", "edit", "reject"]},
                {"action_name": "delegate", "allowed_decisions": ["approve", "respond"]},
            ],
        }
        self.assertEqual(sayso.langchain_can_edit(request), [False, True, False])
        self.answers("allow", args={"command": "make -n"})
        calls = sayso.langchain_calls(request, key="i1", session=self.session)
        self.assertEqual([c.get("said") for c in calls], [{"description": d} for d in ("reads", "runs", "asks")])
        answers = agent().settle(calls, patience=60, can_edit=sayso.langchain_can_edit(request))
        made = sayso.langchain_decisions(request, answers)["decisions"]
        self.assertEqual(made[:2], [{"type": "approve"}, {"type": "edit", "edited_action": {"name": "bash", "args": {"command": "make -n"}}}])
        self.assertEqual((made[2]["type"], made[2]["message"][:16]), ("respond", "Denied by policy"))
        request["review_configs"][1]["allowed_decisions"] = ["approve", "reject"]
        with self.assertRaises(sayso.Invalid):
            sayso.langchain_decisions(request, answers)

    def test_openai_agents(self):
        items = [
            ToolApprovalItem(Agent("helper"), {"type": "function_call", "call_id": "o1"}, "file-read", '{"path":"a"}'),
            ToolApprovalItem(Agent("helper"), {"type": "function_call", "call_id": "o2"}, "delegate", '{"prompt":"x"}'),
        ]
        calls = sayso.openai_agents_calls(items, session=self.session)
        self.assertEqual((calls[0]["caller"], calls[0]["call_id"]), ("openai-agents/helper", "o1"))
        state = RunState()
        sayso.openai_agents_apply(state, items, agent().settle(calls, patience=60))
        self.assertEqual(state.said[0], ("approve", "file-read", False))
        self.assertEqual((state.said[1][:3], state.said[1][3][:16]), (("reject", "delegate", False), "Denied by policy"))

    def test_what_is_no_answer_is_no_yes(self):
        items = [ToolApprovalItem(Agent("a"), {"call_id": "o1"}, "bash", "{}")]
        request = {"action_requests": [{"name": "bash", "args": {}}], "review_configs": [{"action_name": "bash", "allowed_decisions": ["approve", "reject"]}]}
        parts = DeferredToolRequests([], [ToolCallPart("bash", {}, "p1")])
        for answers in ([], [True], ["allow"], [None], [sayso.Pending(ticket="0" * 36)]):
            state = RunState()
            with self.assertRaises(sayso.NotAllowed):
                sayso.openai_agents_apply(state, items, answers)
            with self.assertRaises(sayso.NotAllowed):
                sayso.langchain_decisions(request, answers)
            with self.assertRaises(sayso.NotAllowed):
                sayso.pydantic_ai_results(parts, answers)
            self.assertEqual(state.said, [])
        zero = [sayso.Decision()]
        sayso.openai_agents_apply(state, items, zero)
        self.assertEqual(state.said[0][0], "reject")
        self.assertEqual(sayso.langchain_decisions(request, zero)["decisions"][0]["type"], "reject")
        self.assertEqual(sayso.pydantic_ai_results(parts, zero)["p1"]["kind"], "tool-denied")

    def test_arguments_are_read_strictly(self):
        for args in ('{"a":1,"a":2}', "[]", "{", "nothing", '{"a":1e999}', '{"a":9007199254740993.0}', '{"a":"\\ud800"}', 7):
            with self.assertRaises(sayso.Invalid):
                sayso.pydantic_ai_calls(DeferredToolRequests([], [ToolCallPart("bash", args, "p1")]), session="s")


class Alone(unittest.TestCase):
    def test_digests(self):
        with open(os.path.join(VECTORS, "digests.json"), encoding="utf-8") as f:
            vectors = json.load(f)
        for v in vectors:
            with self.subTest(v["name"]):
                try:
                    got = sayso.digest(sayso.parse_call(v["call"]))
                except sayso.Invalid:
                    got = None
                hosts = '"host"' in v["call"]  # which are for hooks
                self.assertEqual(got, None if hosts else v.get("digest"))

    def test_canonical_or_nothing(self):
        with open(os.path.join(VECTORS, "jcs.json"), encoding="utf-8") as f:
            vectors = json.load(f)
        right = 0
        for v in vectors:
            with self.subTest(v["name"]):
                try:
                    got = sayso.canonical(sayso._read(v["in"].encode("utf-8", "surrogatepass"), sayso._exact))
                except (ValueError, sayso.Invalid):
                    continue
                self.assertEqual(got, v.get("out"))
                right += 1
        self.assertGreater(right, len([v for v in vectors if "out" in v]) - 15)  # numbers that this language rounds

    def test_the_zero_decision_denies(self):
        self.assertFalse(sayso.Decision())
        for d in (sayso.Decision(effect="allow"), sayso.Decision(state="allowed"), sayso.Decision(effect="Allow", state="allowed")):
            self.assertFalse(d)

    def test_everything_that_is_raised_is_a_no(self):
        for name, kind in vars(sayso).items():
            if isinstance(kind, type) and issubclass(kind, Exception):
                self.assertTrue(issubclass(kind, sayso.NotAllowed), name)
                self.assertTrue(str(kind()), name)

    def test_addresses(self):
        for bad in (
            "localhost:7777", "http://", "ftp://127.0.0.1", "http://sayso.example.org", "http://192.0.2.1:80", "http://127.0.0.1.evil.example",
            "https://user:pw@host", "https://host/path", "https://host?x=1", "https://host?", "https://host#", "unix://relative",
            "http://localhost.evil.example", "http://127.0.0.1@evil.example", "http://127.0.0.1:x", "http://127.0.0.1:99999", "https://ho st",
            "https://host\r\nX: y", "http://127.0.0.1\\@evil.example", "http://127.1", "http://2130706433", "http://localhost.",
        ):  # fmt: skip
            with self.assertRaises(sayso.Invalid, msg=bad):
                sayso.Client(bad, token=AGENT, environ={})
        for good in ("http://127.0.0.1:7777", "http://localhost:1", "http://[::1]:1", "https://sayso.example.org", "https://h:1/", "/run/s", "unix:///run/s"):
            sayso.Client(good, token=AGENT, environ={})

    def test_where_the_server_is(self):
        uid = os.getuid()
        long = "/" + "x" * 120
        for env, want in (
            ({"SAYSO_HOME": "/x", "XDG_RUNTIME_DIR": "/r", "HOME": "/h"}, "/x/sayso.sock"),
            ({"HOME": "/h"}, "/h/.local/state/sayso/sayso.sock"),
            ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/sayso/sayso.sock"),
            ({"HOME": "/h", "XDG_RUNTIME_DIR": "/r"}, "/r/sayso/sayso.sock"),
            ({"HOME": "/h", "XDG_RUNTIME_DIR": "r", "XDG_STATE_HOME": "s"}, "/h/.local/state/sayso/sayso.sock"),
        ):
            self.assertEqual(sayso._socket_path(env), want)
        self.assertRegex(sayso._socket_path({"SAYSO_HOME": long}), f"^/tmp/sayso-{uid}/[0-9a-f]{{16}}.sock$")
        with self.assertRaises(sayso.Invalid):
            sayso._socket_path({})

    def test_tokens_come_from_files_that_are_closed(self):
        with tempfile.TemporaryDirectory() as dir:
            os.mkdir(os.path.join(dir, "tokens"))
            path = os.path.join(dir, "tokens", "agent-script")
            with self.assertRaises(sayso.NoRight) as no:
                sayso.Client(environ={"SAYSO_HOME": dir})
            self.assertRegex(str(no.exception), r"type: \(umask 077; sayso token create .* > (\S+)\), and start the program with SAYSO_TOKEN_FILE=\1")
            with open(path, "w", encoding="ascii") as f:
                f.write(AGENT + "\n")
            os.chmod(path, 0o640)
            for env in ({"SAYSO_HOME": dir}, {"SAYSO_TOKEN_FILE": path, "HOME": dir}):
                with self.assertRaises(sayso.NoRight) as no:
                    sayso.Client(environ=env)
                self.assertIn("chmod 600", str(no.exception))
            os.chmod(path, 0o600)
            self.assertEqual(sayso.Client(environ={"SAYSO_HOME": dir})._token.header(), "Bearer " + AGENT)
            with self.assertRaises(sayso.NoRight):  # nobody's token is sent to a server elsewhere by itself
                sayso.Client(environ={"SAYSO_HOME": dir, "SAYSO_SERVER": "https://sayso.example.org"})
        for bad in ("a b", "a\n", "ä", "\x00"):
            with self.assertRaises(sayso.Invalid):
                sayso.Client("/s", token=bad, environ={})

    def test_the_token_shows_nowhere(self):
        c = sayso.Client("/nonexistent/s", token=AGENT, environ={})
        shown = [repr(c), str(c), repr(vars(c)), repr(c._token), f"{c._token}"]
        with self.assertRaises(TypeError):
            pickle.dumps(c)
        try:
            c.admit(sayso.call("bash", {"command": "make"}), patience=1)
        except sayso.CouldNotFindOut as no:
            shown.append("".join(traceback.TracebackException.from_exception(no, capture_locals=True).format()))
            self.assertIsNone(no.__context__)
        self.assertNotIn(AGENT, "".join(shown))

    def test_under_an_agent(self):
        for env, want in (({}, False), ({"CLAUDECODE": "1"}, True), ({"CLAUDECODE": "0"}, False), ({"CODEX_THREAD_ID": "x"}, True)):
            c = sayso.Client("/s", token=PERSON, environ=env)
            self.assertEqual(("Sayso-Channel", "agent-process") in list(c._headers(None)), want)


if __name__ == "__main__":
    unittest.main()

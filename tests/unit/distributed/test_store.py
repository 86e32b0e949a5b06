"""The store of a job: values, exchanges, who has ended, and that nobody without the secret is heard."""

import socket
import threading
import time

import pytest

from mindgrad.communication import channel
from mindgrad.communication.board import FAILED, FINISHED, Board, Ended
from mindgrad.communication.channel import Channel, connected
from mindgrad.communication.groups import World, create, destroy, enter_world, members, own_position
from mindgrad.communication.store import Store, StoreServer
from mindgrad.distributed.job import job_of

SECRET = b"a secret of the test"


@pytest.fixture
def server():
    server = StoreServer(Board(3), "127.0.0.1", 0, SECRET)
    yield server
    server.close()


@pytest.fixture
def opened(server):
    """A function that opens a way to the server as a process of three, or as a launcher (-1)."""
    links = []

    def open_store(rank, attempt=0):
        links.append(Store(f"127.0.0.1:{server.port}", SECRET, rank, 3, attempt, 2.0))
        return links[-1]

    yield open_store
    for link in links:
        link.close()


@pytest.fixture
def links(opened):
    return [opened(rank) for rank in range(3)]


def at_once(*functions):
    """What functions return, or raise, that run at the same time."""
    results = [None] * len(functions)

    def run(position):
        try:
            results[position] = functions[position]()
        except Exception as error:
            results[position] = error

    threads = [threading.Thread(target=run, args=(position,)) for position in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results


def test_values_are_there_for_all_and_large_ones_too(links):
    first, second, _ = links
    value = bytes(range(256)) * 4096
    late = threading.Timer(0.1, first.set, ("key", value))
    late.start()
    assert second.get("key", 5.0) == value
    first.set("key", b"newer")
    assert second.get("key", 5.0) == b"newer"


def test_an_exchange_gives_all_values_in_the_order_of_the_ranks_again_and_again(server, links):
    def rounds(link):
        return [link.exchange("key", b"%d.%d" % (link.rank, number), [2, 0, 1], 5.0) for number in range(20)]

    expected = [[b"%d.%d" % (rank, number) for rank in (2, 0, 1)] for number in range(20)]
    assert at_once(*[lambda link=link: rounds(link) for link in links]) == [expected] * 3
    assert not server.board._parts, "what all have read is forgotten"


def test_groups_exchange_without_each_other(links):
    pair = [
        lambda link=link: link.exchange("pair", b"%d" % link.rank, [0, 2], 5.0)
        for link in (links[0], links[2])
    ]
    alone = lambda: links[1].exchange("alone", b"1", [1], 5.0)
    assert at_once(*pair, alone) == [[b"0", b"2"], [b"0", b"2"], [b"1"]]


def test_who_does_not_come_in_time_is_named(links):
    first, *_ = links
    with pytest.raises(RuntimeError, match=r"ranks 1 and 2 have not come to 'key' within 0\.1 s"):
        first.exchange("key", b"", range(3), 0.1)
    with pytest.raises(RuntimeError, match=r"'other' was not set within 0\.1 s"):
        first.get("other", 0.1)


@pytest.mark.parametrize(
    ("kind", "reason", "text"),
    [
        (FAILED, "was killed by SIGKILL", r"rank 2 was killed by SIGKILL\."),
        (FINISHED, "has ended", r"rank 2 has ended before 'key'\."),
    ],
)
def test_who_waits_for_one_that_has_ended_is_told_at_once(links, kind, reason, text):
    first, second, third = links
    started = time.monotonic()
    leaving = threading.Timer(0.1, third.leave, (2, kind, reason, 0))
    leaving.start()
    results = at_once(
        lambda: first.exchange("key", b"", range(3), 30.0),
        lambda: second.exchange("key", b"", range(3), 30.0),
    )
    assert time.monotonic() - started < 10.0
    leaving.join()  # the others are told before it is: its link is closed only then
    for result in results:
        with pytest.raises(RuntimeError, match=text):
            raise result


def test_the_news_say_who_has_ended_and_who_failed_first(server, links, opened):
    first, second, _ = links
    leaving = threading.Timer(0.1, second.leave, (1, FINISHED, "has ended"))
    leaving.start()
    assert first.news(0, 10.0) == ([Ended(1, FINISHED, "has ended", 0)], None, 0)
    leaving.join()
    second.leave(1, FAILED, "was killed", 137)  # after it said that it ends
    first.leave(0, FAILED, "raised ValueError", 1)
    assert first.news(2, 10.0).failure == Ended(1, FAILED, "was killed", 137)
    server.board.reset(1)
    with pytest.raises(RuntimeError, match="was restarted"):
        first.set("key", b"")
    assert opened(0, 1).news(1, 0.1) == ([], None, 1)


def test_a_process_whose_lifeline_ends_has_failed(links, opened):
    first, second, _ = links
    second.hold([1])
    second.close()
    assert first.news(0, 10.0).failure == Ended(1, FAILED, "has ended without a message", 1)
    launcher = opened(-1, -1)
    launcher.hold([2], "machine 1 (b)")
    launcher.close()
    latest = time.monotonic() + 10.0
    while len(first.news(-1, 0.0).ended) < 2 and time.monotonic() < latest:
        time.sleep(0.01)
    assert first.news(-1, 0.0).ended[1].reason == "is on machine 1 (b), which does not answer"


def test_nobody_is_heard_without_the_secret(server):
    with pytest.raises(ConnectionError, match="MINDGRAD_STORE_KEY"):
        Store(f"127.0.0.1:{server.port}", b"another", 0, 3, timeout=0.2)
    with socket.create_connection(("127.0.0.1", server.port)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(200))
        stranger.settimeout(10.0)
        while stranger.recv(4096):  # random bytes, and then the end
            pass


def test_a_message_that_was_changed_repeated_or_is_too_long_is_refused(monkeypatch):
    wires = []

    def pair():
        ends = socket.socketpair()
        wires.extend(ends)
        monkeypatch.setattr(socket.socket, "setsockopt", lambda *_: None)
        server, client = at_once(
            lambda: Channel(ends[0], SECRET, True, 5.0), lambda: Channel(ends[1], SECRET, False, 5.0)
        )
        return server, client, ends[1]

    server, client, wire = pair()
    client.send({"a": 1}, [b"bytes", b""])
    assert server.receive(5.0) == ({"a": 1}, [b"bytes", b""])
    sent = []
    monkeypatch.setattr(
        client, "_socket", type("Tap", (), {"sendall": lambda _, content: sent.append(content)})()
    )
    client.send("text")
    whole = b"".join(sent)
    wire.sendall(whole + whole)
    assert server.receive(5.0) == ("text", [])
    with pytest.raises(ConnectionError, match="different secret"):
        server.receive(5.0)  # the same one again
    server, client, wire = pair()
    wire.sendall(whole[:-1] + b"x")
    with pytest.raises(ConnectionError, match="different secret"):
        server.receive(5.0)
    server, client, wire = pair()
    wire.sendall(channel._PREFIX.pack(2**40, 10))
    with pytest.raises(ConnectionError, match="maximum length"):
        server.receive(5.0)
    for wire in wires:
        wire.close()


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ValueError, match="host:port"):
        connected("localhost", SECRET, 1.0)


# --- groups and the environment -------------------------------------------------------------------------


@pytest.fixture
def world():
    enter_world(World(1, ("a", "a", "b", "b")))
    yield
    enter_world(None)


def test_groups_have_members_in_order_and_errors_say_what_is_wrong(world):
    create("odd", [3, 1])
    create("odd", [3, 1])  # again: the same
    assert members("odd", "f") == (3, 1)
    assert own_position("odd", "f") == 1
    assert own_position("hccl_world_group", "f") == 1
    create("others", (0, 2))
    for call, error, text in [
        (
            lambda: own_position("others", "get_rank"),
            RuntimeError,
            r"rank 1 is not in the group 'others'.*\[0, 2\]",
        ),
        (lambda: members("none", "get_rank"), ValueError, r"no group 'none'.*'odd', 'others'"),
        (lambda: create("odd", [0]), ValueError, r"'odd' already exists, with the ranks \[3, 1\]"),
        (lambda: create("new", [0, 4]), ValueError, r"processes 0 to 3, but got \[0, 4\]"),
        (lambda: create("new", [0, 0]), ValueError, "distinct ranks"),
        (lambda: create("new", []), ValueError, "one or more"),
        (lambda: create("new", 3), TypeError, "list of integers"),
        (lambda: create("new", [True]), TypeError, "list of integers"),
        (lambda: create(3, [0]), TypeError, "string"),
        (lambda: destroy("none"), ValueError, "no group 'none'"),
        (lambda: destroy("nccl_world_group"), ValueError, "cannot be deleted"),
    ]:
        with pytest.raises(error, match=text):
            call()
    destroy("odd")
    with pytest.raises(ValueError, match="no group 'odd'"):
        members("odd", "f")


SLURM = {
    "SLURM_JOB_ID": "7", "SLURM_STEP_NODELIST": "n1", "SLURM_NTASKS": "4", "SLURM_PROCID": "1", "SLURM_LOCALID": "1",
}  # fmt: skip
OPEN_MPI = {
    "OMPI_MCA_orte_hnp_uri": "1.0;tcp://127.0.0.1:1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0",
}  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "cluster", "size"),
    [
        ({}, "", 1),
        ({"MINDGRAD_WORLD_SIZE": "1"}, "", 1),
        ({"MINDGRAD_WORLD_SIZE": "3", "MINDGRAD_COORDINATOR": "a:1", **SLURM}, "", 3),
        (SLURM, "slurm", 2),
        ({**SLURM, "SLURM_STEP_NUM_TASKS": "1"}, "", 1),  # an interactive shell of a larger job
        ({"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4"}, "", 1),  # a batch script outside of srun
        (OPEN_MPI, "ompi", 2),
        ({**OPEN_MPI, "OMPI_COMM_WORLD_SIZE": "1"}, "", 1),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "3"}, "", 1),  # perhaps a sweep
        ({"MINDGRAD_CLUSTER": "k8s"}, "k8s", 2),
    ],
)
def test_the_environment_says_what_has_started_the_process(environment, cluster, size):
    job = job_of(environment)
    assert (job.cluster, job.size) == (cluster, size)


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({"MINDGRAD_WORLD_SIZE": "2"}, "MINDGRAD_COORDINATOR"),
        ({"MINDGRAD_WORLD_SIZE": "2", "MINDGRAD_RANK": "2"}, "MINDGRAD_RANK=2 is not below"),
        ({"MINDGRAD_WORLD_SIZE": "two"}, "must be a number, but is 'two'"),
        ({"RANK_SIZE": "8"}, "mindgrad launch --workers 8"),
    ],
)
def test_an_environment_that_cannot_be_is_refused(environment, text):
    with pytest.raises(RuntimeError, match=text):
        job_of(environment)

"""Files that several processes save: one writes what is the same, each what is its own, rank 0's statistics stay."""

import json
import threading
import time

import numpy as np
import pytest

import mindgrad as ms
from mindgrad.communication.board import FAILED, Board
from mindgrad.train import latest_checkpoint, sharded_checkpoint
from mindgrad.train.single_writer import SingleWriter, digests_of


class Job:
    """Ranks as threads, each with its part in the agreements of one board."""

    def __init__(self, size, machines=None):
        self.board = Board(size)
        self.writers = [SingleWriter(self.board, k, machines or ["a"] * size) for k in range(size)]
        self.written = []
        self.is_writing = threading.Lock()

    def save(self, rank, path, weight, statistics=0.0, error=None):
        content = {"weight": np.float32([weight]), "statistics": np.float32([statistics])}

        def write():
            assert self.is_writing.acquire(blocking=False), "two write one file at a time"
            time.sleep(0.02)
            self.is_writing.release()
            if error:
                raise error
            path.write_text(f"{weight} {statistics}")
            self.written.append((rank, weight))

        self.writers[rank].write_once(path, digests_of(content, ["weight"]), write)
        return path.read_text()

    def together(self, task, ranks):
        """What ``task(rank)`` gives, or raises, on each of the ranks at once."""
        results = {}

        def run(rank):
            try:
                results[rank] = task(rank)
            except Exception as error:
                results[rank] = error

        threads = [threading.Thread(target=run, args=(rank,)) for rank in ranks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        return [results[rank] for rank in ranks]


def test_one_writes_what_is_the_same_and_the_others_wait(tmp_path):
    job, path = Job(4), tmp_path / "net.ckpt"
    for step in range(5):
        assert (
            job.together(lambda rank, step=step: job.save(rank, path, step), range(4)) == [f"{step} 0.0"] * 4
        )
    assert [weight for _, weight in job.written] == [*range(5)]


def test_each_writes_what_is_its_own(tmp_path):
    job = Job(2)
    paths = [tmp_path / "rank_0.ckpt", tmp_path / "rank_1.ckpt"]
    for rank in (1, 0):
        assert job.save(rank, paths[rank], 1.0) == "1.0 0.0"
    assert job.written == [(1, 1.0), (0, 1.0)]


def test_nobody_waits_for_who_does_not_come(tmp_path):
    job, path = Job(3), tmp_path / "net.ckpt"
    assert job.save(0, path, 1.0) == "1.0 0.0"
    assert job.save(0, path, 2.0) == "2.0 0.0"
    assert job.save(2, path, 3.0) == "3.0 0.0", "the first save of this rank, and another content"
    assert job.save(1, path, 4.0) == "4.0 0.0"
    assert job.save(0, path, 2.0) == "2.0 0.0", "an older content again"
    assert [rank for rank, _ in job.written] == [0, 0, 2, 1, 0]


def test_a_late_process_does_not_bring_back_an_older_content(tmp_path):
    job, path = Job(2), tmp_path / "net.ckpt"
    for weight in (1.0, 2.0, 3.0):
        job.save(0, path, weight)
    for weight in (1.0, 2.0, 3.0):
        assert job.save(1, path, weight) == "3.0 0.0"
    assert len(job.written) == 3


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_statistics_of_rank_0_are_kept(tmp_path, order):
    job, path = Job(3), tmp_path / "net.ckpt"
    for weight in (1.0, 2.0):
        for rank in order:
            job.save(rank, path, weight, statistics=rank + 0.5)
        assert path.read_text() == f"{weight} 0.5"


def test_content_that_differs_is_never_left_out(tmp_path):
    job, path = Job(4), tmp_path / "net.ckpt"
    job.together(lambda rank: job.save(rank, path, rank), range(4))
    assert sorted(weight for _, weight in job.written) == [0, 1, 2, 3]


def test_an_error_of_the_writer_is_one_of_all(tmp_path):
    job, path = Job(2), tmp_path / "net.ckpt"
    errors = job.together(lambda rank: job.save(rank, path, 1.0, error=OSError("disk full")), range(2))
    assert all(isinstance(error, OSError) and "disk full" in str(error) for error in errors)
    assert any("could not write" in str(error) for error in errors)
    assert job.save(1, path, 2.0) == "2.0 0.0"


def test_the_end_of_the_writer_ends_the_wait(tmp_path):
    job, path = Job(2), tmp_path / "net.ckpt"
    content = digests_of({"weight": np.float32([1.0])}, ["weight"])
    job.writers[0].board.claim(f"the file {path}, 0", json.dumps([0, *content]).encode())
    job.board.leave(0, FAILED, "was killed by SIGKILL", 137)
    with pytest.raises(RuntimeError, match="rank 0 was killed by SIGKILL"):
        job.writers[1].write_once(path, content, lambda: None)


def test_another_machine_has_a_file_of_its_own(tmp_path):
    job, path = Job(4, ["a", "a", "b", "b"]), tmp_path / "net.ckpt"
    job.save(0, path, 1.0)
    job.save(1, path, 1.0)
    assert job.save(2, path, 1.0) == "1.0 0.0"
    assert job.written == [(0, 1.0)], "a folder that both machines see"
    job.save(0, path, 2.0)
    path.unlink()  # as machine b sees it
    job.save(2, path, 2.0)
    job.save(3, path, 2.0)
    assert job.written[1:] == [(0, 2.0), (2, 2.0)]


def test_the_first_to_ask_chooses():
    job = Job(2)
    assert [job.writers[1].agreed("prefix", lambda: "b"), job.writers[0].agreed("prefix", lambda: "a")] == [
        "b",
        "b",
    ]
    assert job.writers[0].agreed("prefix", lambda: "c") == "c"


def test_the_latest_checkpoint_is_one_that_is_complete(tmp_path):
    assert latest_checkpoint(tmp_path / "none") is None
    for number in (9, 10):
        ms.save_checkpoint({"step": ms.Tensor(number)}, tmp_path / f"net-1_{number}.ckpt")
    assert latest_checkpoint(tmp_path) == str(tmp_path / "net-1_10.ckpt")
    sharded_checkpoint.write_set(tmp_path / "net-1_11", [("step", ms.Tensor(11))])
    (tmp_path / ".mindgrad-00000000-1-0000000000000000.tmp").touch()
    (tmp_path / "net-1_12").mkdir()
    assert latest_checkpoint(tmp_path, prefix="net") == str(tmp_path / "net-1_11")
    next((tmp_path / "net-1_11").glob("*.safetensors")).unlink()
    assert latest_checkpoint(tmp_path) == str(tmp_path / "net-1_10.ckpt")
    sharded_checkpoint.remove_set(tmp_path / "net-1_11")
    assert not (tmp_path / "net-1_11").exists()

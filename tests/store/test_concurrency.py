"""Several processes and threads with one store."""

import subprocess
import sys
import textwrap
import threading
import time

import pytest

from store.filling import fill, lines, publish
from triplewire.errors import StoreBusy
from triplewire.store import Store

WRITER = """
import sys
sys.path[:0] = {path!r}
from store.filling import lines, publish
from triplewire.store import Store

name, url = sys.argv[1:]
with Store.open(url) as store:
    for n in range(30):
        with store.writing() as writer:
            common = lines(f"<urn:common{{n}}> <urn:by> <urn:{{name}}>", f"<urn:{{name}}> <urn:n> <urn:common{{n}}>")
            publish(writer, {{f"urn:{{name}}:{{n}}": common, "urn:shared": common}}, f"{{name}} {{n}}")
"""


def start(url, name):
    code = textwrap.dedent(WRITER).format(path=sys.path)
    return subprocess.Popen([sys.executable, "-c", code, name, url], stderr=subprocess.PIPE, text=True)


def test_two_processes_that_write_at_the_same_time_lose_nothing(shared_kind, new_url):
    """Both begin with a store that is not there yet: one makes it."""
    url = new_url(shared_kind)
    processes = [start(url, name) for name in ("ada", "bob")]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    with Store.open(url) as store:
        assert list(store.problems()) == []
        with store.reading() as reader:
            assert reader.batches.last() == 60
            assert {batch.id for batch in reader.batches.listing()} == {
                f"{w} {n}" for w in ("ada", "bob") for n in range(30)
            }
            assert reader.documents.count() == 61
            assert reader.documents.current(["urn:shared"])[0].version == 60


def test_reader_is_not_held_up_by_a_writer_and_sees_the_last_commit(shared):
    fill(shared)
    with shared.writing() as writer:
        publish(writer, {"urn:new": lines("<urn:x> <urn:y> <urn:z>")})
        began = time.monotonic()
        with Store.open(shared.url, timeout=0.1) as other, other.reading() as reader:
            assert reader.documents.current(["urn:new"]) == [None]
            assert reader.terms.find(["<urn:x>"]) == [0]
            assert reader.batches.last() == 2
        with shared.reading() as reader:
            assert reader.documents.current(["urn:new"]) == [None]
        assert time.monotonic() - began < 5
    with shared.reading() as reader:
        assert reader.documents.current(["urn:new"]) != [None]


def test_reader_sees_one_state_while_others_commit(shared):
    fill(shared)
    with shared.reading() as reader:
        before = reader.documents.count()
        with shared.writing() as writer:
            publish(writer, {"urn:new": lines("<urn:x> <urn:y> <urn:z>")})
        assert reader.documents.count() == before
        assert reader.batches.last() == 2


def test_second_writer_waits_its_time_and_says_that_the_store_is_busy(shared):
    def write(store):
        with store.writing():
            pass

    with Store.open(shared.url, timeout=0.2) as other:
        with shared.writing(), pytest.raises(StoreBusy, match=r"0\.2 seconds"):
            write(other)
        write(other)


def test_threads_take_turns(store):
    def work(name):
        for n in range(10):
            with store.writing() as writer:
                publish(writer, {f"urn:{name}:{n}": lines(f"<urn:{n}> <urn:by> <urn:{name}>")})
            with store.reading() as reader:
                assert reader.terms.texts(reader.terms.find([f"<urn:{name}>"])) == [f"<urn:{name}>"]

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ada", "bob", "cyd")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    with store.reading() as reader:
        assert reader.documents.count() == 30
    assert list(store.problems()) == []


def test_process_that_is_killed_while_it_writes_leaves_whole_batches(shared_kind, new_url):
    url = new_url(shared_kind)
    Store.open(url).close()
    process = start(url, "ada")
    with Store.open(url) as store:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            with store.reading() as reader:
                if reader.batches.last() >= 5:
                    break
        process.kill()
        process.communicate()
        assert list(store.problems()) == []
        with store.reading() as reader:
            last = reader.batches.last()
            assert last >= 5
            assert reader.documents.current(["urn:shared"])[0].version == last
            assert reader.documents.count() == last + 1

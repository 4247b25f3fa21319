"""Damage to the files of a journal, as disks, copies and people do it; each takes the folder and what chance gives it.

For tests of any part: `DAMAGES` are all of them by name.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path, random.Random], None]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.log"))


def flip_bytes(folder: Path, chance: random.Random) -> None:
    path = chance.choice(files(folder))
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data))
    for at in range(start, min(len(data), start + chance.choice([1, 1, 3, 40]))):
        data[at] ^= chance.randrange(1, 256)
    path.write_bytes(data)


def zero_a_block(folder: Path, chance: random.Random) -> None:
    path = chance.choice(files(folder))
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.choice([8, 64, 512]))
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def add_zeros(folder: Path, chance: random.Random) -> None:
    with chance.choice(files(folder)).open("ab") as file:
        file.write(bytes(chance.choice([1, 16, 28, 4096])))


def add_noise(folder: Path, chance: random.Random) -> None:
    with chance.choice(files(folder)).open("ab") as file:
        file.write(chance.randbytes(chance.choice([1, 16, 28, 300])))


def cut_the_end(folder: Path, chance: random.Random) -> None:
    path = chance.choice(files(folder))
    with path.open("rb+") as file:
        file.truncate(chance.randrange(path.stat().st_size))


def cut_out_of_the_middle(folder: Path, chance: random.Random) -> None:
    path = chance.choice(files(folder))
    data = path.read_bytes()
    start = chance.randrange(len(data))
    path.write_bytes(data[:start] + data[start + chance.choice([1, 30, 200]) :])


def exchange_two_blocks(folder: Path, chance: random.Random) -> None:
    path = chance.choice(files(folder))
    data = path.read_bytes()
    first, second, third = sorted(chance.randrange(len(data) + 1) for _ in range(3))
    path.write_bytes(data[:first] + data[second:third] + data[first:second] + data[third:])


def lose_a_file(folder: Path, chance: random.Random) -> None:
    chance.choice(files(folder)).unlink()


def lose_all_files(folder: Path, chance: random.Random) -> None:
    for path in files(folder):
        path.unlink()


def empty_a_file(folder: Path, chance: random.Random) -> None:
    chance.choice(files(folder)).write_bytes(b"")


def copy_a_file(folder: Path, chance: random.Random) -> None:
    data = chance.choice(files(folder)).read_bytes()
    (folder / f"{chance.randrange(1, 60):020d}.log").write_bytes(data)


def rename_two_files(folder: Path, chance: random.Random) -> None:
    first, second = chance.choice(files(folder)), chance.choice(files(folder))
    if first != second:
        first.rename(folder / "between")
        second.rename(first)
        (folder / "between").rename(second)


DAMAGES: dict[str, Damage] = {
    each.__name__: each
    for each in (
        flip_bytes,
        zero_a_block,
        add_zeros,
        add_noise,
        cut_the_end,
        cut_out_of_the_middle,
        exchange_two_blocks,
        lose_a_file,
        lose_all_files,
        empty_a_file,
        copy_a_file,
        rename_two_files,
    )
}

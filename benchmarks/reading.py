"""Seconds and peak memory of reading large files of rewards, beside pandas reading the same columns.

    python -m benchmarks.reading [--rows 10000000] [--gigabytes 2] [--folder DIR]

Every reading runs in a process of its own, so that the peak is its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

__all__ = ["measure", "write_jsonl", "write_parquet"]

SAMPLES = 100
ROWS_AT_ONCE = 200_000
OURS = "from reweight.rollouts import read; counts = read({path!r}).counts(); print(counts.samples, counts.c.sum())"
PANDAS = (
    "import pandas as pd; frame = pd.{call}; by = frame.groupby('prompt_id')['reward'].agg(['size', 'sum']); "
    "print(int(by['size'].sum()), int(by['sum'].sum()))"
)
MEASURE = """
import resource, sys, time
start = time.perf_counter()
exec(sys.argv[1])
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
"""


def write_parquet(path: Path, rows: int, seed: int = 0) -> None:
    """One row a sample: prompt_id, reward 0 or 1, and a completion of 40 letters."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    schema = pa.schema([("prompt_id", pa.string()), ("reward", pa.float64()), ("completion", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, ROWS_AT_ONCE):
            number = np.arange(start, min(start + ROWS_AT_ONCE, rows))
            prompts = [f"prompt-{i}" for i in (number // SAMPLES).tolist()]
            rewards = (rng.random(number.size) < 0.3).astype(float)
            texts = [f"{value:040x}" for value in rng.integers(0, 2**63, number.size).tolist()]
            writer.write_table(pa.table([prompts, rewards, texts], schema=schema))


def write_jsonl(path: Path, size: int, seed: int = 0) -> None:
    """The same as JSON lines with completions of 400 letters, until the file has `size` bytes."""
    rng = np.random.default_rng(seed)
    line = '{"prompt_id": "prompt-%d", "reward": %d, "completion": "%s"}\n'
    number = written = 0
    with path.open("w") as stream:
        while written < size:
            rewards = (rng.random(1000) < 0.3).astype(int).tolist()
            texts = [f"{value:016x}" * 25 for value in rng.integers(0, 2**63, 1000).tolist()]
            lines = [line % ((number + i) // SAMPLES, rewards[i], texts[i]) for i in range(1000)]
            number += 1000
            written += sum(map(len, lines))
            stream.writelines(lines)


def measure(code: str) -> tuple[str, float, float]:
    """What a piece of code prints, its seconds and its peak memory in MiB."""
    done = subprocess.run([sys.executable, "-c", MEASURE, code], capture_output=True, text=True, check=True)
    result, figures = done.stdout.splitlines()
    seconds, peak = map(float, figures.split())
    return result, seconds, peak


def main() -> None:
    """Write the files, read them, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**7, help="rows of the parquet")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the JSON lines")
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder otherwise")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        parquet, lines = Path(folder) / "rewards.parquet", Path(folder) / "rewards.jsonl"
        write_parquet(parquet, arguments.rows)
        write_jsonl(lines, int(arguments.gigabytes * 1e9))
        wanted = "['prompt_id', 'reward']"
        jobs = {
            "parquet, reweight": OURS.format(path=str(parquet)),
            "parquet, pandas, two columns": PANDAS.format(call=f"read_parquet({str(parquet)!r}, columns={wanted})"),
            "parquet, pandas, all columns": PANDAS.format(call=f"read_parquet({str(parquet)!r})"),
            "JSON lines, reweight": OURS.format(path=str(lines)),
            "JSON lines, pandas": PANDAS.format(call=f"read_json({str(lines)!r}, lines=True)"),
        }
        print(f"{parquet.stat().st_size / 1e9:.2f} GB parquet, {lines.stat().st_size / 1e9:.2f} GB JSON lines")
        for name, code in jobs.items():
            result, seconds, peak = measure(code)
            print(f"{name:30s} {seconds:8.1f} s {peak:8.0f} MiB   samples, correct: {result}", flush=True)


if __name__ == "__main__":
    main()

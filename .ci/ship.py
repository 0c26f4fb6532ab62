"""`rocescope-ship` against an S3 server that is killed, slow, out of space, and refuses.

Usage: ship.py PROGRAM SERVER [KILLS]: the program; the S3 server, `s3rver` (npm, keeps objects on disk); how often each side
is killed, 15 times by default. As root, for small disks (tmpfs); with boto3, of `.ci/requirements-spark.txt`.
"""

import asyncio
import contextlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import boto3
import botocore.config

BUCKET = "fabric"
TABLES = ["flows", "opcodes", "events", "windows"]
PORT = 19000
PROXY = 19001
KEYS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}


class Server:
    """The S3 server; its objects survive it."""

    def __init__(self, program, folder):
        self.command = [program, "-d", folder, "-a", "127.0.0.1", "-p", str(PORT), "--configure-bucket", BUCKET, "--silent"]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: listens(PORT))

    def kill(self):
        self.process.kill()
        self.process.wait()


def listens(port):
    with contextlib.suppress(OSError):
        import socket

        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


class Proxy:
    """In front of the server: cuts, delays, or refuses a share of the connections."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counts = {"passed": 0, "refused": 0, "cut": 0, "slow": 0}
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()
        until(lambda: listens(PROXY))

    async def serve(self):
        server = await asyncio.start_server(self.connection, "127.0.0.1", PROXY)
        await server.serve_forever()

    async def connection(self, reader, writer):
        kind = self.random.choices(["passed", "refused", "cut", "slow"], [4, 2, 2, 1])[0]
        self.counts[kind] += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if kind == "refused":
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
                await reader.readexactly(int(length[0]) if length else 0)
                writer.write(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                await writer.drain()
            else:
                there = await asyncio.open_connection("127.0.0.1", PORT)
                # A client keeps its connections: each ends some time.
                limit = self.random.randrange(200, 400_000) if kind == "cut" else 1_000_000
                pause = 0.02 if kind == "slow" else 0
                ways = [self.pump(reader, there[1], limit, pause), self.pump(there[0], writer, limit, pause)]
                await asyncio.wait([asyncio.ensure_future(way) for way in ways], return_when=asyncio.FIRST_COMPLETED)
                there[1].close()
        writer.close()

    async def pump(self, reader, writer, limit, pause):
        with contextlib.suppress(OSError):
            while data := await reader.read(16_384):
                if (limit := limit - len(data)) < 0:
                    return
                writer.write(data)
                await writer.drain()
                if pause:
                    await asyncio.sleep(pause)


def fill(root, hours, seed=0):
    """Segments with random bytes; returns them by name."""
    source = random.Random(seed)
    made = {}
    for hour in range(hours):
        for table in TABLES:
            name = f"{table}/date=2026-11-21/hour={hour:02}/rail3-20261121T{hour:02}0000Z-0000.parquet"
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            made[name] = source.randbytes(source.randrange(1_000, 300_000))
            path.write_bytes(made[name])
    return made


def here(root):
    """Segments on disk, by name."""
    files = pathlib.Path(root).rglob("*.parquet")
    names = {str(file.relative_to(root)): file for file in files}
    return {name: file.read_bytes() for name, file in names.items() if not name.startswith(".")}


def there(prefix):
    """Objects in the store, by name."""
    config = botocore.config.Config(s3={"addressing_style": "path"}, retries={"max_attempts": 10})
    client = boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{PORT}", aws_access_key_id="S3RVER", aws_secret_access_key="S3RVER", region_name="us-east-1", config=config
    )
    found = {}
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix + "/"):
        for item in page.get("Contents", []):
            name = item["Key"].removeprefix(prefix + "/")
            assert name not in found, f"{name} twice"
            found[name] = client.get_object(Bucket=BUCKET, Key=item["Key"])["Body"].read()
    return found


def start(program, root, prefix, *options, port=PORT, keys=None):
    environment = os.environ | KEYS | {"AWS_ENDPOINT": f"http://127.0.0.1:{port}"} | (keys or {})
    command = [program, root, f"s3://{BUCKET}/{prefix}", *options]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def ship(program, root, prefix, *options, **more):
    process = start(program, root, prefix, "--once", *options, **more)
    text = process.communicate()[1]
    return process.returncode, text.strip()


def killed(program, server, kills):
    """Either side is killed; what is deleted here is there."""
    with tempfile.TemporaryDirectory() as root:
        made = fill(root, 24)
        chance = random.Random(7)
        process = None
        for number in range(2 * kills):
            if process is None or process.poll() is not None:
                process = start(program, root, "killed", "--keep", "0s", "--interval", "50ms", "--max-rate", "40M")
            time.sleep(chance.uniform(0.05, 0.4))
            if number % 2 == 0:
                process.kill()
                process.wait()
            else:
                server.kill()
                time.sleep(chance.uniform(0, 0.2))
                server.start()
            left, arrived = here(root), there("killed")
            for name, bytes_ in made.items():
                assert left.get(name) == bytes_ or arrived.get(name) == bytes_, f"{name} is lost after kill {number}"
        process.kill()
        process.wait()
        code, text = ship(program, root, "killed", "--keep", "0s")
        assert code == 0, text
        assert there("killed") == made, "other objects than segments"
        assert not here(root), "something was not deleted"
        print(f"killed: {kills} times each side, {len(made)} segments there once; {text}")


def disturbed(program):
    """503s, cut and slow connections."""
    proxy = Proxy(11)
    with tempfile.TemporaryDirectory() as root:
        made = fill(root, 24, seed=1)
        code, text = ship(program, root, "disturbed", "--tries", "50", port=PROXY)
        assert code == 0, text
        assert there("disturbed") == made
        assert min(proxy.counts.values()) > 0, proxy.counts
        print(f"disturbed: {proxy.counts} connections; {text.splitlines()[-1]}")


def refused(program):
    """Wrong credentials: one line, nothing there, nothing deleted; then the right ones."""
    with tempfile.TemporaryDirectory() as root:
        made = fill(root, 1, seed=2)
        code, text = ship(program, root, "refused", "--tries", "1", "--keep", "0s", keys={"AWS_ACCESS_KEY_ID": "unknown"})
        assert code == 1 and here(root) == made, text
        print(f"refused: {text.splitlines()[0][:150]}")
        assert not there("refused")
        code, text = ship(program, root, "refused")
        assert code == 0 and there("refused") == made, text


@contextlib.contextmanager
def small_disk(size):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def full(program, command, server):
    """The disk of the store is full, then has room."""
    server.kill()
    with small_disk("3m") as folder, tempfile.TemporaryDirectory() as root:
        small = Server(command, folder)
        made = fill(root, 12, seed=3)
        code, text = ship(program, root, "full", "--tries", "1", "--keep", "0s")
        assert code == 1, "3 MB took everything"
        # It may not survive a full disk.
        if small.process.poll() is not None:
            small.start()
        left, arrived = here(root), there("full")
        for name, bytes_ in made.items():
            assert left.get(name) == bytes_ or arrived.get(name) == bytes_, f"{name} is lost"
        print(f"full: {len(arrived)} of {len(made)} fitted; {text.splitlines()[0][:150]}")
        subprocess.run(["mount", "-o", "remount,size=100m", folder], check=True)
        code, text = ship(program, root, "full", "--keep", "0s")
        assert code == 0 and there("full") == made and not here(root), text
        small.kill()
    server.start()


def main():
    program, command = sys.argv[1:3]
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    with tempfile.TemporaryDirectory() as folder:
        server = Server(command, folder)
        try:
            killed(program, server, kills)
            disturbed(program)
            refused(program)
            full(program, command, server)
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())

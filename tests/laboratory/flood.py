"""Asks a proxy so many times a second for one host name, and counts what failed. Its own process: the tests go on beside it.

Half of the requests open a connection of their own. The others keep theirs, as browsers do: where the proxy closed one between
two requests, the request is sent again on a new one (RFC 9112, 9.3.1), and counted as sent again.
"""

import asyncio
import json
import subprocess
import sys
import time

KEEPERS = 16


class Flood:
    """Runs until it is ended, or for at most so many seconds."""

    def __init__(self, place: str, host: str, rate: int, seconds: int):
        command = [sys.executable, __file__, place, host, str(rate), str(seconds)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end(self) -> dict:
        said, _ = self.process.communicate(timeout=60)
        return json.loads(said)


class Counts:
    def __init__(self):
        self.asked = {"fresh": 0, "kept": 0}
        self.failed: list[str] = []
        self.sent_again = 0


async def answer(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """The status of an answer that arrived whole, and whether the connection stays."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = head.decode("latin-1").lower().split("\r\n")
    length = next(int(field.split(":")[1]) for field in fields if field.startswith("content-length:"))
    await reader.readexactly(length)
    return int(fields[0].split()[1]), "connection: close" not in fields


async def one(streams, host: str, close: bool) -> tuple[int, bool]:
    reader, writer = streams
    ending = "Connection: close\r\n" if close else ""
    writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\n{ending}\r\n".encode())
    return await answer(reader)


async def fresh(address: tuple[str, int], host: str, counts: Counts):
    counts.asked["fresh"] += 1
    writer = None
    try:
        async with asyncio.timeout(10):
            streams = await asyncio.open_connection(*address)
            writer = streams[1]
            status, _ = await one(streams, host, True)
        if status != 200:
            counts.failed.append(f"fresh: {status}")
    except Exception as error:
        counts.failed.append(f"fresh: {error!r}")
    finally:
        if writer:
            writer.close()


async def keeper(address: tuple[str, int], host: str, counts: Counts, turns: asyncio.Queue):
    streams = None
    while await turns.get() is not None:
        counts.asked["kept"] += 1
        reused = streams is not None
        try:
            async with asyncio.timeout(10):
                streams = streams or await asyncio.open_connection(*address)
                try:
                    status, stays = await one(streams, host, False)
                except (ConnectionError, asyncio.IncompleteReadError) as error:
                    # Nothing of an answer came, on a connection that was idle before.
                    if not reused or getattr(error, "partial", b""):
                        raise
                    counts.sent_again += 1
                    streams[1].close()
                    streams = await asyncio.open_connection(*address)
                    status, stays = await one(streams, host, False)
            if status != 200:
                counts.failed.append(f"kept: {status}")
            if not stays:
                streams[1].close()
                streams = None
        except Exception as error:
            counts.failed.append(f"kept: {error!r}")
            if streams:
                streams[1].close()
            streams = None


async def flood(address: tuple[str, int], host: str, rate: int, seconds: int) -> dict:
    counts, turns, tasks = Counts(), asyncio.Queue(), set()
    keepers = [asyncio.create_task(keeper(address, host, counts, turns)) for _ in range(KEEPERS)]
    loop = asyncio.get_running_loop()
    told = loop.run_in_executor(None, sys.stdin.read)
    began = time.monotonic()
    due = 0
    while not told.done() and time.monotonic() - began < seconds:
        wanted = int((time.monotonic() - began) * rate)
        for _ in range(wanted - due):
            due += 1
            if due % 2:
                turns.put_nowait(True)
            else:
                task = asyncio.create_task(fresh(address, host, counts))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        # What cannot be asked in time is not heaped up: the rate that was reached is what is said.
        while turns.qsize() > rate // 4 or len(tasks) > rate // 4:
            await asyncio.sleep(0.005)
            due = max(due, int((time.monotonic() - began) * rate))
        await asyncio.sleep(0.005)
    lasted = time.monotonic() - began
    for _ in keepers:
        turns.put_nowait(None)
    await asyncio.gather(*keepers, *tasks)
    asked = sum(counts.asked.values())
    return {
        "asked": asked,
        **counts.asked,
        "seconds": round(lasted, 1),
        "rate": round(asked / lasted),
        "sent_again": counts.sent_again,
        "failures": len(counts.failed),
        "failed": counts.failed[:20],
    }


if __name__ == "__main__":
    place, host, rate, seconds = sys.argv[1:]
    address, port = place.rsplit(":", 1)
    print(json.dumps(asyncio.run(flood((address, int(port)), host, int(rate), int(seconds)))))

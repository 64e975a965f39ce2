"""The address of a server: its connections send at once."""

import asyncio
import socket

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("prometheus_client")

from irplatform.serving.http_server import bind


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_answer_does_not_wait_until_its_beginning_is_acknowledged(host):
    async def without_delay():
        connection = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(
            lambda _, writer: connection.set_result(writer), sock=bind(host, 0)
        )
        async with server:
            reader, client = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            peer = await connection
            accepted = peer.get_extra_info("socket")
            option = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for writer in (client, peer):
                writer.close()
            await reader.read()
        return option

    assert asyncio.run(without_delay())

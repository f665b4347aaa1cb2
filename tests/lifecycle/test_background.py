"""Background work goes on, and what fails in it is heard."""

import asyncio
import logging

import pytest
from visualproof_server.documents.background import every
from visualproof_server.metrics import REGISTRY
from visualproof_server.model.errors import VisualProofError


def failures(code: str) -> float:
    labels = {"task": "test", "code": code}
    return REGISTRY.get_sample_value("visualproof_background_failures_total", labels) or 0.0


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyError("text of a document"), "INTERNAL"),
        (VisualProofError("DISK_FULL", ""), "DISK_FULL"),
    ],
)
def test_a_step_that_fails_is_tried_again_and_said(
    error: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[int] = []

    async def step() -> None:
        done.append(1)
        if len(done) < 3:
            raise error

    async def run() -> None:
        task = asyncio.create_task(every("test", 0.01, step))
        while len(done) < 5:
            await asyncio.sleep(0.01)
        task.cancel()

    before = failures(code)
    with caplog.at_level(logging.WARNING, "visualproof.background"):
        asyncio.run(asyncio.wait_for(run(), 10))
    assert failures(code) == before + 2
    assert [r.message for r in caplog.records] == ["step failed"] * 2

"""What a caller says beside the answer: it crosses to workers, and is the model's."""

from visualproof_server.model.request import ProveRequest, ShownPages, StatusAction

__all__ = ["ProveRequest", "ShownPages", "StatusAction"]

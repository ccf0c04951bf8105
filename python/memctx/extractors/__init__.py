"""Extractors: what reads a conversation and says which facts are in it."""

from memctx.extractors.protocol import Extraction, Extractor, Known, Message, Request, Usage

__all__ = ["Extraction", "Extractor", "Known", "Message", "Request", "Usage"]

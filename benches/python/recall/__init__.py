"""Recall of the evidence in the recall sets by embedder and ranking; `recall_eval.py` is the command."""

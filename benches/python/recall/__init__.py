"""What each embedder and each ranking recalls of the evidence in the recall sets; `recall_eval.py` is the command."""

"""Classes of libraries that the team uses and dllint does not know."""

from dllint import Boundary, Knowledge

KNOWLEDGE = Knowledge(
    # Derived from the Trainer of transformers, with a loss where that has a collator (sentence-transformers 5, read).
    loaders={
        "sentence_transformers.SentenceTransformerTrainer": Boundary(
            parameters=("model", "args", "train_dataset", "eval_dataset", "loss", "evaluator", "data_collator"),
            ships=("train_dataset", "eval_dataset", "data_collator"),
            workers="args.dataloader_num_workers",
            base="transformers.Trainer",
        ),
    },
    # httpx 0.28: cannot pickle '_thread.RLock' object; aiohttp 3.14: can't pickle local object (run).
    unpicklable_types=("httpx.Client", "httpx.AsyncClient", "aiohttp.ClientSession"),
)

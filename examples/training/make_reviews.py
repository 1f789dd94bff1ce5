"""Writes a small made-up corpus: reviews/<split>/<label>/<number>.txt."""

import os
import random

COMMON = ["the", "a", "film", "plot", "actor", "scene", "and", "it", "was", "with", "of", "story", "camera", "very"]
OPINION = {
    "good": ["lovely", "warm", "bright", "moving", "funny", "clever", "brave", "gentle", "honest", "superb"],
    "bad": ["dull", "cold", "clumsy", "boring", "noisy", "stale", "lazy", "hollow", "tired", "awful"],
}
SIZES = {"train": 120, "valid": 30}


def write_review(path, opinions, rng):
    words = rng.choices(COMMON, k=rng.randint(15, 40)) + rng.choices(opinions, k=rng.randint(3, 6))
    rng.shuffle(words)
    with open(path, "w", encoding="utf-8") as file:
        file.write(" ".join(words))


def main(root="reviews", seed=0):
    rng = random.Random(seed)
    for split, size in SIZES.items():
        for label, opinions in OPINION.items():
            folder = os.path.join(root, split, label)
            os.makedirs(folder, exist_ok=True)
            for number in range(size):
                write_review(os.path.join(folder, f"{number:04d}.txt"), opinions, rng)


if __name__ == "__main__":
    main()

"""What is drawn from a list: one of its elements, or some of them."""

import json
import random


class Clips:
    def read(self):
        return "clip"


class Frames:
    def read(self):
        return "frame"


def flip(image):
    return image


def crop(image):
    return 1


def use(path, rate):
    parts = [Clips()]
    if rate:
        parts.append(Frames())
    reveal(random.choice(parts))  # reveals: Clips | Frames
    reveal(random.choice(parts).read())  # reveals: 'clip' | 'frame'
    reveal(random.choices(parts, [1, 2])[0])  # reveals: Clips | Frames
    reveal(random.choices(parts, weights=rate, k=2)[1])  # reveals: Clips | Frames
    some = random.sample(parts, 2)
    reveal(some[0])  # reveals: Clips | Frames
    for part in some:
        reveal(part)  # reveals: Clips | Frames
    generator = random.Random(7)
    reveal(generator.choice(parts))  # reveals: Clips | Frames
    reveal(generator.sample(parts, 1)[0])  # reveals: Clips | Frames
    reveal(random.choice([flip, crop]))  # reveals: crop | flip
    reveal(random.choice([Clips(), path]))  # reveals: Clips | random.choice()
    reveal(random.choice([1, 2]))  # reveals: random.choice()
    reveal(random.choice(json.load(open(path))))  # reveals: random.choice()
    reveal(random.choice(path))  # reveals: random.choice()

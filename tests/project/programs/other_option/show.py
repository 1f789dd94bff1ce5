import argparse


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    print(options().workers)

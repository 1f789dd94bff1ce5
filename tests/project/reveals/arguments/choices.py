"""Options that argparse holds to their choices."""

import argparse
import json

import parsers
import settings

parser = argparse.ArgumentParser()
parser.add_argument("--data", choices=["voc", "City"], default="voc")
parser.add_argument("--mode", choices=("train", "test"), required=True)
parser.add_argument("--place", type=str, choices=["here", "there"])
parser.add_argument("--level", type=int, choices=[1, 2], default=1)
parser.add_argument("--parts", nargs="+", choices=["a", "b"], default="a")
parser.add_argument("--split", choices=settings.SPLITS, default="train")
args = parser.parse_args()

reveal(args.data)  # reveals: 'City' | 'voc'
reveal(args.mode)  # reveals: 'test' | 'train'
reveal(args.place)  # reveals: 'here' | 'there' | None
reveal(args.level)  # reveals: argparse.ArgumentParser().parse_args().level
reveal(args.parts)  # reveals: argparse.ArgumentParser().parse_args().parts
reveal(args.split)  # reveals: argparse.ArgumentParser().parse_args().split
reveal({"voc": 1, "city": 2, "coco": 3}[args.data.lower()])  # reveals: 1 | 2


def holds_for(args):
    holds(args.data == "coco")  # holds: no
    holds(args.data == "voc")  # holds: unknown


holds_for(args)


def configured():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", choices=["voc", "city"], default="voc")
    args = parser.parse_args()
    for name, value in json.load(open("settings.json")).items():
        setattr(args, name, value)
    return args


reveal(configured().data)  # reveals: argparse.ArgumentParser().parse_args().data


def updated():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", choices=["voc", "city"], default="voc")
    args = parser.parse_args()
    vars(args).update(json.load(open("settings.json")))
    return args


reveal(updated().data)  # reveals: argparse.ArgumentParser().parse_args().data


def with_data():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--data", choices=["voc", "city"], default="voc")
    return parser


def with_parents():
    parser = argparse.ArgumentParser("train", parents=[parsers.with_mode(), with_data()])
    parser.add_argument("--place", choices=["here", "there"], default="here")
    return parser.parse_args()


reveal(with_parents().data)  # reveals: 'city' | 'voc'
reveal(with_parents().mode)  # reveals: 'test' | 'train' | None
reveal(with_parents().place)  # reveals: 'here' | 'there'


def resolved():
    parser = argparse.ArgumentParser(parents=[with_data()], conflict_handler="resolve")
    parser.add_argument("--data", choices=["coco"], default="coco")
    return parser.parse_args()


reveal(resolved().data)  # reveals: argparse.ArgumentParser().parse_args().data


def each_the_parent_of_the_next():
    parser = with_data()
    for _ in range(2):
        parser = argparse.ArgumentParser(parents=[parser], add_help=False)
    return parser.parse_args()


reveal(each_the_parent_of_the_next().data)  # reveals: 'city' | 'voc'


def with_another_default():
    parser = argparse.ArgumentParser(parents=[with_data()])
    parser.set_defaults(data=json.load(open("settings.json"))["data"])
    return parser.parse_args()


reveal(with_another_default().data)  # reveals: argparse.ArgumentParser().parse_args().data


def with_some_defaults(**defaults):
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", choices=["voc", "city"], default="voc")
    parser.set_defaults(**defaults)
    return parser.parse_args()


reveal(with_some_defaults().data)  # reveals: argparse.ArgumentParser().parse_args().data


def with_another_default_of_another_option():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", choices=["voc", "city"], default="voc")
    parser.set_defaults(place="here")
    return parser.parse_args()


reveal(with_another_default_of_another_option().data)  # reveals: 'city' | 'voc'


def lettered():
    default = "none"
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--letter", choices=["voc", "city"], default=default)
    return parser


def with_letters():
    return argparse.ArgumentParser(parents=[lettered()]).parse_args()


reveal(with_letters().letter)  # reveals: 'city' | 'none' | 'voc'

"""Modules whose import only defines names."""

from __future__ import annotations

import pytest

from dllint.source import Source
from dllint.syntax.only_defines import only_defines


@pytest.mark.parametrize(
    "text",
    [
        '"""What it is for."""\nimport os\nfrom a import b\n',
        "SIZE = 2 * 3\nNAMES: list = ['a', *OTHERS]\nA, B = 1, 2\nNAMES += ['b']\nx: int\n",
        "logger = logging.getLogger(__name__)\nROOT = os.path.join(os.path.dirname(__file__), 'data')\n",
        "@cache\ndef f(a=1, *, b=()):\n    return print(a)\n\n\nasync def g():\n    pass\n",
        "@dataclass\nclass A(B):\n    size: int = field(default=3)\n\n    def f(self):\n        run()\n",
        "try:\n    import a\nexcept ImportError:\n    a = None\nelse:\n    import b\n",
        "if sys.version_info > (3, 9):\n    import a\nelse:\n    a = None\n",
        "if TYPE_CHECKING:\n    import a\n\nif __name__ == '__main__':\n    run()\n",
        "run = lambda: start()\nTABLE = {name: len(name) for name in NAMES}\n",
    ],
)
def test_definitions(text: str) -> None:
    assert only_defines(Source("a.py", text))


@pytest.mark.parametrize(
    "text",
    [
        "print(1)\n",
        "x = load()\n",
        "ImageFile.LOAD_TRUNCATED_IMAGES = True\n",
        "os.environ['A'] = 'b'\n",
        "for x in y:\n    pass\n",
        "with a:\n    b = 1\n",
        "del a\n",
        "def f(a=load()):\n    pass\n",
        "@DATASETS.register_module()\nclass A:\n    pass\n",
        "@register('a')\ndef f():\n    pass\n",
        "class A:\n    print(1)\n",
        "try:\n    import a\nexcept ImportError:\n    install('a')\n",
        "if torch.cuda.is_available():\n    a = 1\n",
        "if a:\n    load()\n",
        "if __name__ == '__main__':\n    pass\nelse:\n    load()\n",
        "x = requests.get('a')\n",
        "TABLE = {name: load(name) for name in NAMES}\n",
        "print 1\n",
    ],
)
def test_anything_else(text: str) -> None:
    assert not only_defines(Source("a.py", text))

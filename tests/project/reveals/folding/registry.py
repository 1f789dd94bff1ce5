IMPORTED = ("a", "b")
LISTED = []
APPENDED = []
RENAMED = []
REBOUND = []


def reset(names):
    global REBOUND
    REBOUND = [name for name in names]

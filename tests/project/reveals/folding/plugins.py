import registry
from between import LISTED
from registry import RENAMED as others

LISTED.append("a")
registry.APPENDED.append("a")
others.append("a")

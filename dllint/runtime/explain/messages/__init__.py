"""The table of messages, in the order in which they are compared with a line: the more specific ones first."""

from __future__ import annotations

from dllint.runtime.explain.message import Message
from dllint.runtime.explain.messages.arguments import ARGUMENTS
from dllint.runtime.explain.messages.devices import DEVICES, PINNING
from dllint.runtime.explain.messages.dying import DYING
from dllint.runtime.explain.messages.handles import HANDLES
from dllint.runtime.explain.messages.pickling import PICKLING
from dllint.runtime.explain.messages.sharing import SHARING
from dllint.runtime.explain.messages.starting import STARTING
from dllint.runtime.explain.messages.stopping import STOPPING
from dllint.runtime.explain.messages.unpickling import UNPICKLING

MESSAGES: tuple[Message, ...] = (
    *PICKLING,
    *UNPICKLING,
    *STARTING,
    *DEVICES,
    *SHARING,
    *HANDLES,
    *DYING,
    *ARGUMENTS,
    *STOPPING,
    *PINNING,
)
BY_KEY = {message.key: message for message in MESSAGES}

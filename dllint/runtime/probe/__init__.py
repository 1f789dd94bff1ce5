"""`dllint probe`: one loader, run on real torch under each start method, and what static analysis cannot see.

The code of the project runs in processes of its own (`child`, and the workers that it starts), which are watched
from outside (`contain`) and tell what they see in files (`messages`). `run` joins this to a report.
"""

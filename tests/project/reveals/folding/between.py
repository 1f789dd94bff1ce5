from registry import LISTED

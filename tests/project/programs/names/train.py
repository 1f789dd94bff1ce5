"""Uses what another module handed on."""

import api

if __name__ == "__main__":
    for batch in api.Loader([1, 2], num_workers=2):  # fact: workers some
        print(batch)
    for batch in api.through_alias([1, 2]):
        print(batch)

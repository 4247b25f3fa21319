"""Isolation: work that may go wrong, in a process that may die of it.

In comes work on what strangers sent: a document to parse, a query to answer. Out goes its result, or how the process
ended that did it. `children` forks one for a portion of work; `confinement` takes the network, files, memory and time
from it that the work does not need; `processes` keeps a process that is asked again and again; `parsing` has some of
them that read documents (`parser` is what runs in each).

It never decides what the end of a process means: the caller tells its client.
"""

from triplewire.isolation.children import Died, in_child, isolated
from triplewire.isolation.confinement import Confinement
from triplewire.isolation.processes import Ended, Process, TooLate

__all__ = ["Confinement", "Died", "Ended", "Process", "TooLate", "in_child", "isolated"]

"""Crash, power-loss and I/O-error driver for stores that append acknowledged records.

A store is reached through two commands only, so that the driver knows nothing of its format:

- *write* ``DIRECTORY TAG COUNT`` appends records and prints a flushed line for each: ``try TOKEN`` before it hands the
  record over, ``ack TOKEN`` once the store says that it is stored, ``err TOKEN`` when it says that it is not. A token
  has no blanks, is unique and carries a digest of the record, so that a damaged record cannot pass for the one written.
- *verify* ``DIRECTORY`` opens the store and prints ``rec TOKEN`` for every record in it.

Held in every mode: no acknowledged record is lost, none appears that was never written, none twice; verify ends by
itself with status 0; the writer neither hangs nor dies of a signal that the driver did not send. Rounds share a
directory, so that what an earlier fault left behind meets later appends.

`python -m crash.driver` lists the modes.
"""

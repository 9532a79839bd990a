"""The directory of an ensemble: its journal, `ensemble.yaml`, the records of jobs, the lock."""

"""The report of a job: one page that needs no network and no script, to be kept, sent and printed."""

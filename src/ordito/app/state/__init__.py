"""What is recorded, looked at and changed by hand; each change is recorded as a job of its own."""

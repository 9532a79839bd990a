"""What commands answer: one frozen struct for each format that programs read, made from what the use cases return."""

"""What a command line may ask of each workflow: the words and options that verbs and `ordito plan` share."""

print("submit")

print("cancel")

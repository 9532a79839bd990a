print("common")

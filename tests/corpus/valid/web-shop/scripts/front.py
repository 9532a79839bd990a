print("front")

echo pair

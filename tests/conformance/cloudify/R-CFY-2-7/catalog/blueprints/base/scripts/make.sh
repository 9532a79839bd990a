echo made

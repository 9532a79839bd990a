echo fill

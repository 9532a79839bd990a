echo go

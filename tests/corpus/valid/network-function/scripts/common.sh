echo common

echo publish

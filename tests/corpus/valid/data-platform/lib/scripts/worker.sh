echo worker

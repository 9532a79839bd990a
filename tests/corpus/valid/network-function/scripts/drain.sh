echo drain

"""Make or find what no script makes: computes, storage, networks."""

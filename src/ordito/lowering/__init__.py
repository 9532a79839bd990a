"""Documents in other languages become files of TOSCA: what nobody above this floor needs to know of them."""

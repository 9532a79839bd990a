"""Operations on other hosts: everything that does not depend on the protocol."""

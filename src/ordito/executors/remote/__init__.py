"""Operations on other hosts: what does not depend on how a host is reached."""

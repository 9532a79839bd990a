"""Operations inside of containers."""

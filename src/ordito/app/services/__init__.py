"""Services as commands read them: from their files, from their pins, and together with what still runs of earlier
deployed versions."""

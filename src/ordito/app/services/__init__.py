"""Services as commands read them: where they lie, in their pins, and with what still runs of earlier forms."""

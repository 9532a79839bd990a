echo compact

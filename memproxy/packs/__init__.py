"""Rule packs: what some facts say, in structured form. Data; read and applied by `memproxy.extraction.packs`."""

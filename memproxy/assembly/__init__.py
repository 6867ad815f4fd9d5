"""Every part of a running memory, wired: what the server, the commands and the library stand on."""

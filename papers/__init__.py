"""Papers whose experiments are reproduced here, one a directory."""

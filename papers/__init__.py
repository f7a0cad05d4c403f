"""Papers whose experiments are reproduced here, one directory per paper."""

"""Attacks on files, interrupts, threads, numbers and messages: ``make attack`` runs all of them."""

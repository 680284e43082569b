"""Parts for tests of placet and of what is built on it: scripted models, clocks, contract suites."""

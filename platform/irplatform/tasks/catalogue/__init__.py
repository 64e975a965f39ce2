"""The shared tasks that are known: kinds of rules, files of tasks, names, and new files."""

"""The paper's study, rebuilt: `python -m studies.paper`."""

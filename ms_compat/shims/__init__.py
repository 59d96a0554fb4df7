"""Drop-ins for MindSpore calls that follow the plan; each imports MindSpore only when it is called."""

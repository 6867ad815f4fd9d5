"""Memory as tools for agents (the Model Context Protocol): routes of the API under names that models understand."""

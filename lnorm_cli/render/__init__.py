"""Traces and results as text, JSON, Markdown, LaTeX and CSV. Renderers walk and write; they never compute."""

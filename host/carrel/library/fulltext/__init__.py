"""Keeps full texts beside the library: attaches, gives and detaches PDFs and Markdown.

`attachments` reads the member `custom.attachments` and finds the files, `run` changes them.
"""

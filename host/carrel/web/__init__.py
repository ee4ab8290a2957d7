"""Searches the web and reads pages of it: the toolset `web`, off without the settings of `web`.

`search` has the tool `web_search`, off without the setting `web.search`. The other modules read
pages, off without the setting `web.hosts`.

In the order of a reading: `download` gets the page under the grant of the public web, `reading`
has it read in the sandbox and caches it for an hour, `walls` names what came in place of a page,
`citation` and `metadata` say whose words they are, `answer` makes the result. `tool` implements the
tool `web_read`, `command` the command `carrel web`.

How to use it: `docs/how-to/read-the-web.md`; why no plugin fetches pages: decision 0055.
"""

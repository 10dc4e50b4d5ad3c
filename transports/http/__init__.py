"""Places behind a web server (INT-122, CYB-16).

| module | holds |
|---|---|
| `schemes`, `paths` | which addresses belong to the web, and where a live server listens to what |
| `reasons` | why a server was not reached, in words |
| `server`, `slots` | a live server, and whose exchanges are under way in it |
| `guarded`, `bodies`, `pace`, `thin` | its connections, the bodies on them, their pace |
| `client`, `read_ahead` | the client's half, and reading an answer ahead of who takes it in |
| `identity`, `hello` | who the server is, and what it must see before it says anything |
| `stream`, `solid` | what travels in a body: frames, and short records compressed together |
| `waits`, `tls` | a connection on which a person may stop each wait, and TLS above it |
| `web`, `static` | asking a server that is not trusted, and a mailbox behind a plain one |
"""

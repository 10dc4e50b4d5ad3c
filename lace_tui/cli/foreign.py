"""What the verbs of other tools are here: whoever comes from one types them, and a guess by their letters misleads."""

from __future__ import annotations

__all__ = ["FOREIGN"]

_BACK = "lace checkout main PATH brings a file back as it was committed; lace undo takes back your last act."
_WHO = "lace log lists what happened, and lace log PATH who changed a file and when."
_PLACE = "lace place add NAME URI remembers a place to meet, a git remote too; lace places lists them."
_MOVE = "Do it with your own tools: lace commit -m TEXT takes it in, and a file that was only moved is known again."
_LIST = "lace diff shows what changed, lace cat main PATH a file as it was committed, and lace log what happened."
_ENTER = "lace accept INVITE enters a group, with what a member's lace invite printed; then lace sync and lace update."
_INVITE = "lace invite NAME lets a person in; lace release shares what you have, and lace sync brings it to them."
_PRUNE = "lace prune lets go of the content of old commits; nothing that was released goes without lace desk keep."
_LINES = (
    "Each member has a line of their own: lace desks lists them, and lace desk add NAME DIR gives a folder its own."
)
_TOOK = "lace update brings friends' released work into the folder; lace merge takes any line in."
_TRAVEL = "lace sync NAME brings what is new both ways; lace update then brings it into the folder."
_WHERE = "lace peers lists who has what, and lace queue what of yours a peer has not confirmed."
_BACKUP = "Copy the folder with its .vault, and your keys: lace config path says where they lie."
_IGNORE = "Name it in a file .laceignore, written as .gitignore is."

# By what somebody types, in which tool soever: one sentence with the commands that do it here.
FOREIGN = {
    "add": "Nothing is added first: lace commit -m TEXT PATH keeps a file, and without PATH all that changed.",
    "annotate": _WHO,
    "backup": _BACKUP,
    "blame": _WHO,
    "branch": _LINES,
    "clone": _ENTER,
    "delete": _MOVE,
    "download": _TRAVEL,
    "gc": _PRUNE,
    "get": _TRAVEL,
    "history": _WHO,
    "ignore": _IGNORE,
    "mv": _MOVE,
    "rebase": _TOOK,
    "remote": _PLACE,
    "remove": _MOVE,
    "rename": _MOVE,
    "reset": _BACK,
    "restore": _BACK,
    "revert": _BACK,
    "rm": _MOVE,
    "rollback": _BACK,
    "share": _INVITE,
    "show": _LIST,
    "stash": "lace commit -m TEXT keeps what changed, and it stays with you until a release; lace undo takes it back.",
    "switch": "lace checkout main@3 shows an older state in the folder, until lace checkout main.",
    "tag": "lace label NAME names your newest revision; lace release VERSION gives it a version and shares it.",
    "upload": _TRAVEL,
    "whereis": _WHERE,
}

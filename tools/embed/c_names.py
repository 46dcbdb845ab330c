"""Names at file scope of C sources: what a file defines for itself, and what it shows to other files.

Used by ``amalgamate.py``. The scanner reads tokens, not C: it knows declarations at depth 0, tags and enumerators.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|->|\.\.\.|##?|[^\s\w]',
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*$")
KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Alignas "
    "_Alignof _Atomic _Bool _Complex _Generic _Noreturn _Static_assert _Thread_local bool asm __asm__ __inline "
    "__inline__ __restrict __restrict__ __extension__ __attribute__ __typeof__ typeof __volatile__ __const".split()
)
WITH_PARENTHESES = frozenset(("__attribute__", "_Alignas", "__asm__", "asm", "_Pragma", "__declspec", "__typeof__"))
OPEN, CLOSE = frozenset("([{"), frozenset(")]}")


def without_comments(text: str) -> str:
    """The text with every comment made a space; line breaks in it stay."""

    def blank(match: "re.Match[str]") -> str:
        found = match.group(0)
        return found if found[0] in "\"'" else " " + "\n" * found.count("\n")

    return LITERAL_OR_COMMENT.sub(blank, text)


@dataclass
class Names:
    """Names that a file declares at file scope: its own (static, types, enumerators), and those with linkage."""

    own: set[str] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)


def skip(tokens: list[str], at: int) -> int:
    """The place after the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        if tokens[at] in OPEN:
            depth += 1
        elif tokens[at] in CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def enumerators(tokens: list[str], at: int) -> set[str]:
    """The names in the braces that open at `at`."""
    found, end, place = set(), skip(tokens, at), at + 1
    expected = True
    while place < end:
        token = tokens[place]
        if token in OPEN:
            place = skip(tokens, place)
            continue
        if expected and IDENTIFIER.match(token):
            found.add(token)
            expected = False
        elif token == ",":
            expected = True
        place += 1
    return found


def declared(flat: list[str]) -> set[str]:
    """Names of the declarators of a declaration whose brackets are gone but for empty `(` `[` `{` marks."""
    found, last = set(), ""
    in_value = False
    for token in flat:
        if token == ",":
            in_value = False
        if in_value:
            continue
        if token in ("(", "[", "=", ",", ";", "{"):
            if last:
                found.add(last)
            last = ""
            in_value = in_value or token == "="
        elif IDENTIFIER.match(token) and token not in KEYWORDS:
            last = token
    return found


def scan(tokens: list[str]) -> Names:
    """Names of a translation unit's tokens, or of those of a file (preprocessor lines left out)."""
    names = Names()
    at = 0
    while at < len(tokens):
        flat: list[str] = []
        static = is_type = False
        while at < len(tokens):
            token = tokens[at]
            if token in WITH_PARENTHESES and at + 1 < len(tokens) and tokens[at + 1] == "(":
                at = skip(tokens, at + 1)
            elif token in ("struct", "union", "enum"):
                at += 1
                tag = ""
                while at < len(tokens) and tokens[at] in WITH_PARENTHESES:
                    at = skip(tokens, at + 1)
                if at < len(tokens) and IDENTIFIER.match(tokens[at]):
                    tag = tokens[at]
                    at += 1
                if at < len(tokens) and tokens[at] == "{":
                    names.own |= {tag} if tag else set()
                    if token == "enum":
                        names.own |= enumerators(tokens, at)
                    at = skip(tokens, at)
                elif at < len(tokens) and tokens[at] == ";":
                    names.own |= {tag} if tag else set()
            elif token == "(":
                # (*name)(...) of a pointer to a function, else the parameters.
                if at + 2 < len(tokens) and tokens[at + 1] == "*" and not any(t == "(" for t in flat):
                    inner = [t for t in tokens[at + 2 : skip(tokens, at)] if t not in KEYWORDS]
                    if inner and IDENTIFIER.match(inner[0]):
                        flat.append(inner[0])
                flat.append("(")
                at = skip(tokens, at)
            elif token == "[":
                flat.append("[")
                at = skip(tokens, at)
            elif token == "{":
                ends = "=" not in flat
                flat.append("{")
                at = skip(tokens, at)
                if ends:
                    break
            elif token == ";":
                flat.append(";")
                at += 1
                break
            else:
                static = static or token == "static"
                is_type = is_type or token == "typedef"
                flat.append(token)
                at += 1
        (names.own if static or is_type else names.shown).update(declared(flat))
    names.shown -= names.own
    return names


def tokens_of(text: str) -> list[str]:
    """Tokens of C text whose comments and preprocessor lines are gone."""
    return TOKEN.findall(text)


def raw_tokens(text: str) -> list[str]:
    """Tokens of a file as written, all branches of its conditions, without preprocessor lines."""
    text = without_comments(text).replace("\\\n", " ")
    return tokens_of(re.sub(r"^[ \t]*#.*$", "", text, flags=re.M))


def members(tokens: list[str]) -> set[str]:
    """Identifiers behind `.` and `->`: those that may be members."""
    return {b for a, b in zip(tokens, tokens[1:]) if a in (".", "->") and IDENTIFIER.match(b)}


def struct_bodies(text: str) -> list[tuple[int, int]]:
    """Where the braces of structures and unions open and close in a text without comments and literals."""
    found = []
    for match in re.finditer(r"\b(?:struct|union)\s*\w*\s*\{", text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
        found.append((match.end() - 1, at))
    return found

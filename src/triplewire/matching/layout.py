"""The numbers that the index's tables and the compiled kernel agree on.

The index is a few flat arrays. A *record* is one conjunction, stored once however many subscriptions want it; it
waits in a chain under one *access key*. Its *program* is the conjunction as steps: the first step takes the triple
that woke it, each further one extends or tests the partial match. A record whose inequality was taken out is the head
of a *family*: members that differ only in that threshold, sorted by it.

    key table ──> record ──> program + constants          what to check
                     └─────> entries (or family ─> members ─> entries)   whom to tell
"""

from __future__ import annotations

# Access kinds: what part of a triple a record waits for. Each is a bit in the flags of its predicate as well, so that
# a triple is looked up only in the ways that some record needs.
PSO, PO, PS, P = 0, 1, 2, 3
NUMBER = 4
TEXT_1, TEXT_8 = 5, 12  # .. by a gram of one to eight bytes
OBJECT_BELOW_OR_SELF, OBJECT_BELOW, OBJECT_CHILD = 13, 14, 15
SUBJECT_BELOW_OR_SELF, SUBJECT_BELOW, SUBJECT_CHILD = 16, 17, 18
FREE_SO, FREE_S, FREE_O, FREE_ALL = 19, 20, 21, 22  # for variable predicates: bits of the index, not of a predicate

KIND_NAMES = {
    PSO: "subject, predicate and object",
    PO: "predicate and object",
    PS: "predicate and subject",
    P: "predicate",
    NUMBER: "predicate and number",
    **dict.fromkeys(range(TEXT_1, TEXT_8 + 1), "predicate and text"),
    OBJECT_BELOW_OR_SELF: "predicate and class of the object",
    OBJECT_BELOW: "predicate and class of the object",
    OBJECT_CHILD: "predicate and class of the object",
    SUBJECT_BELOW_OR_SELF: "predicate and class of the subject",
    SUBJECT_BELOW: "predicate and class of the subject",
    SUBJECT_CHILD: "predicate and class of the subject",
    FREE_SO: "subject and object",
    FREE_S: "subject",
    FREE_O: "object",
    FREE_ALL: "any triple",
}

# Columns of the records table.
R_PROGRAM, R_CONSTANTS, R_NEXT, R_PREVIOUS, R_HEAD, R_FAMILY, R_CUT, R_KIND, R_KEY_LOW, R_KEY_HIGH = range(10)
R_PART, R_OFFSET = 10, 11  # the text that it waits for and where in it the gram is; or -1 and a second key's hash
R_TEXT, R_TEXT_LENGTH = 12, 13  # where that text stands among the strings
RECORD_COLUMNS = 16  # two are spare: so many are one line of the processor's cache

# Columns of the entries table: who wants a record (or a member of its family), and under which column names.
E_SUBSCRIPTION, E_COLUMNS, E_NEXT, E_PREVIOUS, E_SIBLING, E_RECORD, E_THRESHOLD = range(7)
ENTRY_COLUMNS = 7

# Columns of the families table.
F_START, F_SORTED, F_SIZE, F_CAPACITY = range(4)
FAMILY_COLUMNS = 4

# A program: a header, then steps of four numbers each (operation, a, b, c).
H_VARIABLES, H_STEPS, H_FLAGS, H_CONSTANTS = range(4)
HEADER = 4
STEP = 4
RESIDUAL = 1  # header flag: conditions remain that only Python can check

# Operations. A triple step is TRIPLE + modes: two bits for each of subject, predicate, object.
CONSTANT, BOUND, BIND, AGAIN = 0, 1, 2, 3  # AGAIN: a variable that an earlier place of the same triple binds
TRIPLE = 0  # .. 63
TEST_NUMBER = 64  # + comparison; a: variable, b: constant, c: 1 if strict
TEST_FAMILY = 72  # + comparison; a: variable, c: 1 if strict
TEST_TEXT = 80  # + CONTAINS/STARTS/ENDS; a: variable, b: constant, c: 1 if strict
TEST_CLASS = 88  # + BELOW_OR_SELF/BELOW/CHILD; a: variable, b: constant

EQ, LT, LE, GT, GE = range(5)
CONTAINS, STARTS, ENDS = range(3)
BELOW_OR_SELF, BELOW, CHILD = range(3)

OPERATIONS = (
    *(TEST_NUMBER + comparison for comparison in (EQ, LT, LE, GT, GE)),
    *(TEST_TEXT + place for place in (CONTAINS, STARTS, ENDS)),
    *(TEST_CLASS + relation for relation in (BELOW_OR_SELF, BELOW, CHILD)),
)
"""The operation of each of `algebra.canonical.TESTS`."""

# What the kernel writes for each match: these, then (start, length) in the text for each variable.
M_DOCUMENT, M_RECORD, M_LOW, M_HIGH, M_FLAGS, M_VARIABLES = range(6)
EMISSION = 6
UNCERTAIN = 1  # only Python's exact arithmetic, or a residual condition, can tell
TOO_MANY_ROWS = 2
TOO_MANY_STEPS = 4

# Columns of the table of what each record has spent on a document, found by the record's number plus one.
S_RECORD, S_STEPS, S_ROWS, S_SEED = range(4)
SPENT_COLUMNS = 4

# Rows of the table of addresses: the arrays of the image, of the working memory, and of one call.
(
    A_SLOTS,
    A_STARTS,
    A_STRINGS,
    A_NUMBERS,
    A_FLAGS,
    A_KEYS,
    A_BITS,
    A_GRAMS,
    A_RECORDS,
    A_CONSTANTS,
    A_CODE,
    A_FAMILIES,
    A_THRESHOLDS,
    A_PARENT_STARTS,
    A_PARENTS,
    A_MEMBERS,
    A_ENTRIES,
    A_QUEUE,
    A_MARKS,
    A_TEXT,
    A_WORK,
    A_VALUES,
    A_CANDIDATES,
    A_SPENT,
    A_OUT,
    A_TOLD,
    A_BOUNDS,
    A_ENDS,
    A_ID_SLOTS,
    A_ID_STARTS,
    A_ID_STRINGS,
    A_PROGRAM_SLOTS,
    A_PROGRAM_STARTS,
    A_PROGRAM_STRINGS,
    A_COUNTS,
    A_POPULARITY,
    A_RECORD_SLOTS,
    A_SUBSCRIPTIONS,
    A_REQUEST,
    A_REQUEST_TEXT,
) = range(40)
A_UNIT = 40  # (unit, nothing)
A_LIMITS = 41  # (most rows, most steps)
ADDRESSES = 42

# What is counted: the rows in use of each table, and what else changes with them.
COUNTED = (
    "keys",
    "records",
    "entered",  # slots of records in use, or used once
    "constants",
    "families",
    "thresholds",
    "entries",
    "subscriptions",
    "live",  # subscriptions that are there now
    "free_flags",  # the access kinds of variable predicates, as bits
    "gram_records",  # records in the filter of grams
    "free_records",  # the first row that was given back, plus one; each leads to the next
    "free_entries",
    "terms",
    "programs",
    "ids",
    "expressions",  # of XPath
)
(
    C_KEYS,
    C_RECORDS,
    C_ENTERED,
    C_CONSTANTS,
    C_FAMILIES,
    C_THRESHOLDS,
    C_ENTRIES,
    C_SUBSCRIPTIONS,
    C_LIVE,
    C_FREE_FLAGS,
    C_GRAM_RECORDS,
    C_FREE_RECORDS,
    C_FREE_ENTRIES,
    C_TERMS,
    C_PROGRAMS,
    C_IDS,
    C_EXPRESSIONS,
) = range(len(COUNTED))

# In `subscriptions`: not there; there, but it can never match. Otherwise its last entry, plus one.
ABSENT, PRESENT = 0, -1

# A request to enter one branch of a subscription, or to take a subscription out. First who it is about:
Q_SUBSCRIPTION, Q_SIBLING = 0, 1  # what the branches before this one have made, or -1
Q_ID = 2  # how many bytes the id has
# Then the branch as `algebra.canonical` writes it: its HEAD, the other numbers, the texts. Last the id.
Q_TRIPLES, Q_TESTS, Q_VARIABLES, Q_CONSTANTS, Q_CONDITIONS, Q_WANTED, Q_AMOUNTS, Q_TEXT, Q_COLUMNS = range(3, 12)
REQUEST = 12

# How a call of the kernel ends.
DONE, NEED_LINES, NEED_CANDIDATES, NEED_OUTPUT, NEED_TOLD, MALFORMED = range(6)
REFUSED = 1  # the id is in use, or is not
LACKS = 2  # .. plus the row of the table of addresses: that array has too little room

MOST_STEPS_IN_PROGRAM = 1000
MOST_VARIABLES = 500

# The working memory for one document, in units of its capacity in lines.
W_SUBJECT, W_PREDICATE, W_OBJECT, W_RUN_END, W_NEXT_P, W_NEXT_O = range(6)
W_TERMS = 6  # then eleven sections of three units each
(
    T_START,
    T_LENGTH,
    T_GLOBAL,
    T_FIRST,
    T_HEAD_P,
    T_HEAD_O,
    T_NUMBER,
    T_TEXT,
    T_TEXT_LENGTH,
    T_TAG,
    T_SUFFIX,
) = (W_TERMS + 3 * i for i in range(11))
W_SLOTS = W_TERMS + 3 * 11  # a hash table of the document's terms: 8 units
W_KNOWN = W_SLOTS + 8  # a hash table of those that the index knows: 8 units
W_KEYS = W_KNOWN + 8  # a bitmap of the document's keys: 4 units
W_UNITS = W_KEYS + 4
W_STACK = 2 * MOST_STEPS_IN_PROGRAM + 2 * MOST_VARIABLES

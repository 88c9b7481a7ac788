"""Slack's limits on messages and blocks. Source: docs.slack.dev, reference/block-kit."""

BLOCKS = 50  # in a message, its attachments included
BLOCKS_IN_VIEW = 100
HEADER = 150
CHARACTERS = 12_000  # in all blocks of a message; Slack refuses more than about 13,200
BLOCK_COSTS = 42  # characters that each block adds to its text (slackapi/bolt-js#2867)
SECTION = 3000
FIELDS = 10
FIELD = 2000
CONTEXT = 3000
BUTTONS = 25
BUTTON_LABEL = 75
BUTTON_VALUE = 2000
ADDRESS = 3000  # of a link behind a button
ACTION_ID = 255
OPTIONS = 100  # of a menu
OVERFLOW_OPTIONS = 5
OPTION_VALUE = 150
TABLE_ROWS = 100  # with the heading; one table in a message
TABLE_COLUMNS = 20
TABLE_CHARACTERS = 8_000  # of all its cells, our own limit: the rest of the message needs room
CELL = 200  # characters, our own limit
TEXT = 3500  # the text of a message; an edit allows 4,000
MAX_FILE_SIZE = 1_000_000  # bytes of a file that we attach
VIEW_TITLE = 24
VIEW_BLOCKS = 100
PLACEHOLDER = 150

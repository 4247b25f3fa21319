"""A story on an open-data catalogue, in chapters: `story` is the main one, `chapters` lists them all.

What comes in: the files beside this module (documents, a taxonomy of themes, subscriptions). What goes out: text on a
console. It uses the public names of the library, so that it is also an example of how to call them. There are two
exceptions: explanations are told with readable names, and the crowd is built by hand.

`town`, `subscribers` and `crowd` are who is in it, `files` what they publish, `stage` is where it is told. `latecomer`,
`press`, `reasons`, `harbour` and `stream` are chapters; `playground` serves the hub of the story.
"""

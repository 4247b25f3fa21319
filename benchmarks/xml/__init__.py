"""The XML benchmark: many XPath expressions, one XML document at a time.

What comes in: workloads (the brokering paper's menu, and varied paths over auctions and news). What goes out: what a
document costs when its expressions are matched together, one by one, and by the paper's short-cut; and figures 2 and 3
of the paper.
"""

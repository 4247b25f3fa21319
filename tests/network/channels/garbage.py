"""What strangers may send: any value that JSON can say."""

from hypothesis import strategies as st


def garbage() -> st.SearchStrategy[object]:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
        max_leaves=10,
    )

from __future__ import annotations

import pytest

from proofs_check.document import FIELDS, parse
from reweight.errors import InputError

FORM = "\n".join(f"{name}: text of {name}" for name in FIELDS)


def test_fields_may_run_over_several_lines_and_hold_colons() -> None:
    document = parse(f"Title.\n\n{FORM}\n    and: more")
    assert document.title == "Title."
    assert document.fields["Why it matters"] == "text of Why it matters and: more"
    assert parse(str(document)) == document


@pytest.mark.parametrize(
    "docstring",
    [
        None,
        "",
        "Title only.",
        f"Title.\n\nwords before\n{FORM}",
        f"Title.\n\n{FORM}\nSource: again",
        "Title.\n\n" + "\n".join(f"{name}: x" for name in FIELDS[::-1]),
        "Title.\n\n" + "\n".join(f"{name}:" for name in FIELDS),
        "Title.\n\n" + "\n".join(f"{name}: x" for name in FIELDS[1:]),
    ],
)
def test_any_other_form_is_refused_in_one_sentence(docstring: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parse(docstring)
    assert "\n" not in str(caught.value)

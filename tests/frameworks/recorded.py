"""The records that are compared with ours: the committed ones, or those that `make frameworks` has just made."""

import json
import os
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("REWEIGHT_RECORDS", HERE / "records"))
TRL, VERL, POLGRAD = (json.loads((FOLDER / f"{name}.json").read_text()) for name in ("trl", "verl", "polgrad"))

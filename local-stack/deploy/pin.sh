#!/usr/bin/env bash
# Writes each requirements-NAME.txt from its .in, which is what people edit: every package that comes along, at one version, with the
# hashes of all its files, for every Python and system that we know. `pip install uv` first. Versions that still fit stay.
set -euo pipefail
cd "$(dirname "$0")"
for file in requirements-*.in; do
  python=3.10
  # schemathesis wants more.
  [ "$file" = requirements-contract.in ] && python=3.11
  uv pip compile --quiet --universal --python-version "$python" --generate-hashes --no-annotate --no-emit-index-url \
    --custom-compile-command local-stack/deploy/pin.sh --output-file "${file%.in}.txt" "$file"
done

#!/usr/bin/env bash
# Uploads what `sam build` made, each package under its digest, and writes packaged.yaml, which names them.
set -euo pipefail
cd "$(dirname "$0")/.."
bucket=${1:?"usage: deploy/package.sh BUCKET, after cargo xtask test --only template"}
PATH="$PWD/.local/venv-checks/bin:$PATH"
export SAM_CLI_TELEMETRY=0
sam package --template-file .aws-sam/build/template.yaml --s3-bucket "$bucket" --s3-prefix packages \
  --output-template-file packaged.yaml >/dev/null
git rev-parse --short=12 HEAD >release.txt
echo "packaged release $(cat release.txt)"

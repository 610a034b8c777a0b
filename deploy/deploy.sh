#!/usr/bin/env bash
# Deploys packaged.yaml to UAT or production, and fills the page: by the pipeline, or by hand after deploy/package.sh.
# PACKAGES_BUCKET is where the packages are; CLOUDFORMATION_ROLE, if set, is what CloudFormation takes on.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=${1:?"usage: deploy/deploy.sh uat|prod"}
: "${PACKAGES_BUCKET:?is not set}"
PATH="$PWD/.local/venv-checks/bin:$PATH"
export SAM_CLI_TELEMETRY=0
stack="parceltrack-$environment"

# In a terminal, production asks before it changes anything; the pipeline has asked already.
[ -t 0 ] && confirm=() || confirm=(--no-confirm-changeset)
sam deploy --config-env "$environment" --template-file packaged.yaml --s3-bucket "$PACKAGES_BUCKET" "${confirm[@]}" \
  ${CLOUDFORMATION_ROLE:+--role-arn "$CLOUDFORMATION_ROLE"} \
  --parameter-overrides "file://deploy/parameters/$environment.yaml" "Release=$(cat release.txt)"

bucket=$(aws cloudformation describe-stacks --stack-name "$stack" --output text \
  --query "Stacks[0].Outputs[?OutputKey=='PageBucketName'].OutputValue")
# A browser asks each time whether a file has changed, so that no page runs with scripts of another release.
aws s3 sync web "s3://$bucket" --exclude config.json --delete --cache-control no-cache --only-show-errors
# The API is on the page's own origin. In UAT the page offers a rush, whose mails SES takes without delivering them.
config='{}'
[ "$environment" = prod ] || config='{"rush": "success+{}@simulator.amazonses.com"}'
echo "$config" | aws s3 cp - "s3://$bucket/config.json" --content-type application/json --cache-control no-cache
echo "release $(cat release.txt) is at $(deploy/page-url.sh "$environment")"

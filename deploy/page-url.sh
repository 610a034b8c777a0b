#!/usr/bin/env bash
# The address of the page and the API of UAT or production.
set -euo pipefail
aws cloudformation describe-stacks --stack-name "parceltrack-${1:?"usage: deploy/page-url.sh uat|prod"}" --output text \
  --query "Stacks[0].Outputs[?OutputKey=='PageUrl'].OutputValue"

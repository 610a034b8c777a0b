"""Looks for secrets in every file that git knows or would take up, by detect-secrets, and for API keys of our own.

What is public on purpose stands in ALLOWED, each with its reason. There is no baseline file: a list of hashes tells
nobody why something may stay.
"""

import re
import subprocess
import sys

from detect_secrets.core.scan import scan_file
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.settings import transient_settings

PLUGINS = [
    "ArtifactoryDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "Base64HighEntropyString",
    "BasicAuthDetector",
    "CloudantDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "HexHighEntropyString",
    "JwtTokenDetector",
    "KeywordDetector",
    "MailchimpDetector",
    "NpmDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
]

# Pattern of the path, pattern of what was found, and why it may stand there.
ALLOWED = [
    (r".*", r".*onlyforthelaptop", "keys that every local stack knows and nothing else does"),
    (r".*\.rs", r"pt_0123456789abcdef_(0123456789abcdef){4}", "a key that a test makes up"),
    (r".*", r"password", "the word, where a URL's form is described"),
    (r"events/.*\.json", r"[0-9A-Za-z+/=-]+", "ids, digests and receipts of made-up events"),
    (r"\.ci/find_secrets\.py", r"ParcelTrack API key", "what such a find is called"),
    (r".*\.rs", r"[0-9a-f]{32}|[0-9a-f]{64}", "MD5 and SHA-256 digests that tests compare with"),
    (r".*\.yaml", r"!(And|Equals|If|Not|Ref)\b.*", "expressions of CloudFormation"),
    (r".*\.yaml", r".*\$\{[A-Za-z]+\}.*|[A-Z][A-Za-z]*|parceltrack/\S+", "names of parameters and of secrets"),
]

# Locks hold digests of packages, snapshots what tests print; fonts and pictures are no text.
NOT_READ = re.compile(r"(^|/)(Cargo\.lock|requirements-[a-z]+\.txt)$|\.(snap|ttf|png|pdf)$")


class ParcelTrackKeyDetector(RegexBasedDetector):
    """An API key: see shared/src/domain/api_key.rs."""

    secret_type = "ParcelTrack API key"
    denylist = (re.compile(r"pt_[a-z0-9]{16}_[a-z0-9]{64}"),)


def files() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return [name for name in names if name and not NOT_READ.search(name)]


def allowed(path: str, value: str) -> bool:
    return any(re.fullmatch(where, path) and re.fullmatch(what, value) for where, what, _ in ALLOWED)


def found_in(path: str) -> list[tuple[int, str, str]]:
    found = [(secret.line_number, secret.type, secret.secret_value or "") for secret in scan_file(path)]
    detector = ParcelTrackKeyDetector()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            found += [(number, detector.secret_type, key) for key in detector.analyze_string(line)]
    return found


def main() -> int:
    paths = files()
    with transient_settings({"plugins_used": [{"name": name} for name in PLUGINS]}):
        findings = [(path, *found) for path in paths for found in found_in(path)]
    secrets = [(path, line, kind) for path, line, kind, value in findings if not allowed(path, value)]
    for path, line, kind in secrets:
        # Never the secret itself: this goes to a log.
        print(f"{path}:{line}: {kind}", file=sys.stderr)
    print(f"{len(paths)} files, {len(findings)} suspicions, {len(secrets)} secrets")
    return 1 if secrets else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes what CloudFormation makes of template.yaml for one set of parameters, as JSON, without AWS.

The SAM transform, then parameters, mappings and conditions are worked out, and what a condition leaves out is gone. So
whoever checks it, a test or a scanner, sees UAT or production and no maybes. References to resources, and the names
that AWS makes up, stay as they are.
"""

import argparse
import json
import logging
import os
import pathlib
import re
import sys

import yaml
from deploy import REGION, DeployError, read_template, transform

NOTHING = object()
PACKAGE = {"Bucket": "packages", "Key": "unpacked.zip"}


class Resolver:
    """Works out the intrinsic functions that need no AWS."""

    def __init__(self, template: dict, parameters: dict[str, str]):
        self.conditions = template.get("Conditions", {})
        self.mappings = template.get("Mappings", {})
        self.parameters = parameters

    def condition(self, name: str) -> bool:
        return self.truth(self.conditions[name])

    def truth(self, test) -> bool:
        (function, argument), *_ = test.items()
        match function:
            case "Condition":
                return self.condition(argument)
            case "Fn::Not":
                return not self.truth(argument[0])
            case "Fn::And":
                return all(self.truth(one) for one in argument)
            case "Fn::Or":
                return any(self.truth(one) for one in argument)
            case "Fn::Equals":
                left, right = (self.value(side) for side in argument)
                return str(left) == str(right)
        raise DeployError(f"{function} is no condition")

    def value(self, node):
        """The node with everything worked out; NOTHING for AWS::NoValue."""
        if isinstance(node, list):
            return [value for value in map(self.value, node) if value is not NOTHING]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            (function, argument), *_ = node.items()
            match function:
                case "Ref" if argument == "AWS::NoValue":
                    return NOTHING
                case "Ref" if argument in self.parameters:
                    return self.parameters[argument]
                case "Fn::If":
                    return self.value(argument[1 if self.condition(argument[0]) else 2])
                case "Fn::FindInMap":
                    name, first, second = (self.value(part) for part in argument)
                    return self.mappings[name][first][second]
                case "Fn::Split":
                    separator, text = argument[0], self.value(argument[1])
                    return text.split(separator) if isinstance(text, str) else {function: [separator, text]}
                case "Fn::Select":
                    index, choices = argument[0], self.value(argument[1])
                    return choices[int(index)] if isinstance(choices, list) else {function: [index, choices]}
                case "Fn::Sub":
                    return self.substituted(argument)
        values = {key: self.value(value) for key, value in node.items()}
        return {key: value for key, value in values.items() if value is not NOTHING}

    def substituted(self, argument):
        text, names = argument if isinstance(argument, list) else (argument, {})
        known = {**self.parameters, **{name: self.value(value) for name, value in names.items()}}
        texts = {name: value for name, value in known.items() if not isinstance(value, dict)}
        text = re.sub(r"\$\{([^!}]+)\}", lambda found: str(texts.get(found[1], found[0])), text)
        rest = {name: value for name, value in known.items() if name in names and name not in texts}
        if "${" not in text:
            return text
        return {"Fn::Sub": [text, rest] if rest else text}

    def section(self, entries: dict) -> dict:
        """The entries whose conditions hold."""
        return {
            name: self.value({key: value for key, value in entry.items() if key != "Condition"})
            for name, entry in entries.items()
            if "Condition" not in entry or self.condition(entry["Condition"])
        }


def check(template: dict, parameters: dict[str, str], resolver: Resolver) -> None:
    """Refuses what CloudFormation would refuse: wrong values, and rules that do not hold."""
    for name, declared in template.get("Parameters", {}).items():
        value = parameters[name]
        allowed = [str(one) for one in declared.get("AllowedValues", [value])]
        low, high = declared.get("MinValue", float("-inf")), declared.get("MaxValue", float("inf"))
        if value not in allowed:
            raise DeployError(f"{name} is {value!r}, which is none of {allowed}")
        if not re.fullmatch(declared.get("AllowedPattern", ".*"), value):
            raise DeployError(f"{name} is {value!r}: {declared.get('ConstraintDescription', 'it has another form')}")
        if declared["Type"] == "Number" and not low <= float(value) <= high:
            raise DeployError(f"{name} is {value}, which is not between {low} and {high}")
    for rule in template.get("Rules", {}).values():
        if resolver.truth(rule["RuleCondition"]):
            for assertion in rule["Assertions"]:
                if not resolver.truth(assertion["Assert"]):
                    raise DeployError(assertion["AssertDescription"])


def expand(path: pathlib.Path, given: dict[str, str]) -> dict:
    template = read_template(path)
    declared = template.get("Parameters", {})
    if unknown := given.keys() - declared.keys():
        raise DeployError(f"the template has no parameter {', '.join(sorted(unknown))}")
    parameters = {name: str(entry["Default"]) for name, entry in declared.items() if "Default" in entry} | given
    if missing := declared.keys() - parameters.keys():
        raise DeployError(f"a value is missing for {', '.join(sorted(missing))}")
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = PACKAGE
    if template.get("Transform"):
        template = transform(template, parameters)
    resolver = Resolver(template, parameters)
    check(template, parameters, resolver)
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": template["Description"],
        "Resources": resolver.section(template["Resources"]),
        "Outputs": resolver.section(template.get("Outputs", {})),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--template", type=pathlib.Path, required=True)
    parser.add_argument("--parameters", type=pathlib.Path, required=True, help="a file of deploy/parameters")
    arguments = parser.parse_args()
    # The SAM transform wants to know it, though it asks nobody; and it warns of switches of AWS's own.
    os.environ["AWS_DEFAULT_REGION"] = REGION
    logging.disable(logging.WARNING)
    try:
        given = yaml.safe_load(arguments.parameters.read_text(encoding="utf-8")) or {}
        expanded = expand(arguments.template, {name: str(value) for name, value in given.items()})
    except (DeployError, OSError) as error:
        print(f"expand: {error}", file=sys.stderr)
        return 1
    json.dump(expanded, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())

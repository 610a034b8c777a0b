"""Deploys template.yaml, the one that goes to AWS, on the emulator.

The emulator runs CloudFormation but not the SAM transform, so that happens here, offline. It also ignores the OpenAPI
body in which SAM writes the routes of an HTTP API, so these become resources of their own, and a function's log level,
which it gets as AWS gives it. It has no CodeDeploy, so there are no versions and aliases: what is called is the code that
was deployed last. Nothing else is changed but the packages' place, and numbers that are text in AWS or the other way
round.

Can be run again: the stack is updated, functions get their new code, and tables, queues and the bucket keep what they
hold. Progress goes to stderr; stdout gets the stack's outputs as one JSON object.
"""

import argparse
import base64
import copy
import hashlib
import json
import os
import pathlib
import sys
import time

import yaml

REGION = "ap-southeast-1"
TEMPLATE_BODY_LIMIT = 51_200
HTTP_METHODS = {"get", "put", "post", "delete", "options", "head", "patch"}
ANY_METHOD = "x-amazon-apigateway-any-method"
INTEGRATION = "x-amazon-apigateway-integration"

SETTLED = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"}
NEVER_CAME_UP = {"CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_FAILED"}


class DeployError(Exception):
    """One line for the person who called."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ---- Reading and transforming the template ----


class TemplateLoader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms."""


def _intrinsic(loader, suffix, node):
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = value.split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


TemplateLoader.add_multi_constructor("!", _intrinsic)


def read_template(path: pathlib.Path) -> dict:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), TemplateLoader)
    except OSError as error:
        raise DeployError(f"cannot read {path}: {error.strerror}") from error


def functions_of(template: dict) -> dict[str, str]:
    """Maps each function's logical id to the name of its binary."""
    return {
        logical_id: resource["Metadata"]["BuildProperties"]["Binary"]
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def transform(template: dict, parameters: dict) -> dict:
    from samtranslator.model.exceptions import InvalidDocumentException
    from samtranslator.translator.transform import transform as sam_transform

    class NoManagedPolicies:
        """The template writes its policies out, and the list of AWS's own would need a call to AWS."""

        def load(self):
            return {}

    defaults = {name: p["Default"] for name, p in template.get("Parameters", {}).items() if "Default" in p}
    try:
        return sam_transform(
            copy.deepcopy(template),
            {"AWS::Region": REGION, "AWS::Partition": "aws", **defaults, **parameters},
            NoManagedPolicies(),
        )
    except InvalidDocumentException as error:
        raise DeployError(f"SAM refuses the template: {error.message}") from error


def call_the_latest_code(template: dict) -> None:
    """Takes away what moves callers from version to version, step by step."""
    of_versions = "AutoPublishAlias", "AutoPublishCodeSha256", "DeploymentPreference", "ProvisionedConcurrencyConfig"
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            for name in of_versions:
                resource["Properties"].pop(name, None)


def expand_http_apis(template: dict) -> None:
    """Turns the OpenAPI body of each HTTP API into Integration and Route resources."""
    for api_id, api in list(template["Resources"].items()):
        if api["Type"] != "AWS::ApiGatewayV2::Api" or "Body" not in api["Properties"]:
            continue
        body = api["Properties"].pop("Body")
        api["Properties"].pop("FailOnWarnings", None)
        api["Properties"].update(
            Name=api["Properties"].get("Name", {"Fn::Sub": "${AWS::StackName}-" + api_id}), ProtocolType="HTTP"
        )
        count = 0
        for path, methods in body.get("paths", {}).items():
            for method, operation in methods.items():
                if method != ANY_METHOD and method not in HTTP_METHODS:
                    continue
                if path == "/$default":
                    route_key = "$default"
                else:
                    route_key = f"{'ANY' if method == ANY_METHOD else method.upper()} {path}"
                integration = operation[INTEGRATION]
                integration_id, route_id = f"{api_id}Integration{count}", f"{api_id}Route{count}"
                count += 1
                template["Resources"][integration_id] = {
                    "Type": "AWS::ApiGatewayV2::Integration",
                    "Properties": {
                        "ApiId": {"Ref": api_id},
                        "IntegrationType": integration["type"].upper(),
                        "IntegrationMethod": integration.get("httpMethod", "POST"),
                        "IntegrationUri": integration["uri"],
                        "PayloadFormatVersion": integration.get("payloadFormatVersion", "2.0"),
                    },
                }
                template["Resources"][route_id] = {
                    "Type": "AWS::ApiGatewayV2::Route",
                    "Properties": {
                        "ApiId": {"Ref": api_id},
                        "RouteKey": route_key,
                        "Target": {"Fn::Join": ["/", ["integrations", {"Ref": integration_id}]]},
                    },
                }


def settle_types(template: dict, parameters: dict) -> None:
    """Does what CloudFormation does with text and numbers, and the emulator does not.

    Values of mappings are text, which environment variables need; numbers in parameters are text too, and become
    numbers again where a resource wants one, without which the emulator's queue poller fails.
    """
    for mapping in template.get("Mappings", {}).values():
        for values in mapping.values():
            values.update({key: str(value) for key, value in values.items() if isinstance(value, int)})
    for resource in template["Resources"].values():
        scaling = resource.get("Properties", {}).get("ScalingConfig", {})
        limit = scaling.get("MaximumConcurrency")
        if isinstance(limit, dict) and "Ref" in limit:
            name = limit["Ref"]
            scaling["MaximumConcurrency"] = int(parameters.get(name, template["Parameters"][name].get("Default")))


def tell_log_levels(template: dict) -> None:
    """Does what Lambda does with a function's log level, and the emulator does not: the function finds it there."""
    for resource in template["Resources"].values():
        level = resource.get("Properties", {}).get("LoggingConfig", {}).get("ApplicationLogLevel")
        if resource["Type"] == "AWS::Lambda::Function" and level:
            environment = resource["Properties"].setdefault("Environment", {}).setdefault("Variables", {})
            environment["AWS_LAMBDA_LOG_LEVEL"] = level


# ---- Talking to the emulator ----


class Emulator:
    def __init__(self, endpoint: str):
        import boto3
        from botocore.config import Config

        session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)
        # Not through a proxy, whatever the environment says: the emulator is on this machine.
        config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}, connect_timeout=3, proxies={})
        self.endpoint = endpoint.rstrip("/")
        self.cloudformation = session.client("cloudformation", endpoint_url=endpoint, config=config)
        self.dynamodb = session.client("dynamodb", endpoint_url=endpoint, config=config)
        self.functions = session.client("lambda", endpoint_url=endpoint, config=config)
        self.s3 = session.client("s3", endpoint_url=endpoint, config=config)

    def make_bucket(self, name: str) -> None:
        try:
            self.s3.head_bucket(Bucket=name)
        except self.s3.exceptions.ClientError:
            self.s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})

    def keys_in(self, bucket: str) -> set[str]:
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return {entry["Key"] for page in pages for entry in page.get("Contents", [])}

    def stack(self, name: str) -> dict | None:
        try:
            stack = self.cloudformation.describe_stacks(StackName=name)["Stacks"][0]
        except self.cloudformation.exceptions.ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        return None if stack["StackStatus"] == "DELETE_COMPLETE" else stack

    def wait_until_settled(self, name: str, seconds: float) -> dict | None:
        deadline = time.monotonic() + seconds
        while True:
            stack = self.stack(name)
            if stack is None or not stack["StackStatus"].endswith("_IN_PROGRESS"):
                return stack
            if time.monotonic() > deadline:
                raise DeployError(
                    f"stack {name} has been {stack['StackStatus']} for {seconds:.0f} s; forget its state and start anew"
                )
            time.sleep(0.1)

    def names_in(self, stack: str) -> dict[str, str]:
        """Maps logical ids to the names that CloudFormation made up."""
        resources = self.cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
        return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}

    def first_failure(self, name: str) -> str:
        """Finds the cause among the events of the latest operation; what failed later only followed."""
        cause = "no reason given"
        for event in self.cloudformation.describe_stack_events(StackName=name)["StackEvents"]:
            if event["ResourceStatus"].endswith("_FAILED"):
                cause = f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', cause)}"
            if event.get("ResourceStatusReason") == "User Initiated":
                break
        return cause


def upload_code(emulator: Emulator, bucket: str, zips: dict[str, bytes]) -> dict[str, str]:
    """Stores each package under its digest, so that new code is a new key, which is what makes an update happen."""
    present = emulator.keys_in(bucket)
    keys = {}
    for binary, content in zips.items():
        keys[binary] = f"{binary}/{hashlib.sha256(content).hexdigest()}.zip"
        if keys[binary] not in present:
            say(f"uploading {binary} ({len(content) / 1e6:.1f} MB)")
            emulator.s3.put_object(Bucket=bucket, Key=keys[binary], Body=content)
    return keys


def create_or_update(emulator: Emulator, name: str, bucket: str, template: dict, parameters: dict) -> dict:
    body = json.dumps(template, separators=(",", ":"))
    request = {
        "StackName": name,
        "Parameters": [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
        "Capabilities": ["CAPABILITY_IAM"],
    }
    if len(body) <= TEMPLATE_BODY_LIMIT:
        request["TemplateBody"] = body
    else:
        emulator.s3.put_object(Bucket=bucket, Key="template.json", Body=body.encode())
        request["TemplateURL"] = f"{emulator.endpoint}/{bucket}/template.json"

    stack = emulator.wait_until_settled(name, 60)
    if stack and stack["StackStatus"] in NEVER_CAME_UP:
        # Its creation failed and was rolled back, so there is nothing in it to lose.
        say(f"removing what a failed deployment left ({stack['StackStatus']})")
        emulator.cloudformation.delete_stack(StackName=name)
        stack = emulator.wait_until_settled(name, 60)
    try:
        if stack is None:
            say(f"creating stack {name}, {len(template['Resources'])} resources")
            emulator.cloudformation.create_stack(**request)
        else:
            say(f"updating stack {name}")
            emulator.cloudformation.update_stack(**request)
    except emulator.cloudformation.exceptions.ClientError as error:
        if "No updates are to be performed" in str(error):
            say("nothing has changed")
            return stack
        raise DeployError(f"CloudFormation refuses the template: {error}") from error

    stack = emulator.wait_until_settled(name, 120)
    if stack is None or stack["StackStatus"] not in SETTLED or "ROLLBACK" in stack["StackStatus"]:
        status = stack["StackStatus"] if stack else "gone"
        raise DeployError(f"stack {name} is {status}: {emulator.first_failure(name)}")
    return stack


def switch_on_time_to_live(emulator: Emulator, names: dict[str, str], template: dict) -> None:
    """Does by a call what the emulator does not read from the template."""
    for logical_id, resource in template["Resources"].items():
        wanted = resource.get("Properties", {}).get("TimeToLiveSpecification")
        if not wanted:
            continue
        table = names[logical_id]
        now = emulator.dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        if now["TimeToLiveStatus"] == "DISABLED":
            emulator.dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)


def make_sure_of_code(
    emulator: Emulator, names: dict[str, str], functions: dict[str, str], zips: dict[str, bytes]
) -> None:
    """Compares each function's code with its package, since a stack that needs no update may have lost it."""
    for logical_id, binary in functions.items():
        wanted = base64.b64encode(hashlib.sha256(zips[binary]).digest()).decode()
        function = emulator.functions.get_function_configuration(FunctionName=names[logical_id])
        if function["CodeSha256"] != wanted:
            say(f"giving {logical_id} its code again")
            function = emulator.functions.update_function_code(FunctionName=names[logical_id], ZipFile=zips[binary])
        if function["CodeSha256"] != wanted:
            raise DeployError(f"{logical_id} does not run the code of {binary}.zip")


# ---- The command ----


def read_zips(directory: pathlib.Path, binaries: list[str]) -> dict[str, bytes]:
    zips = {}
    for binary in binaries:
        path = directory / f"{binary}.zip"
        try:
            zips[binary] = path.read_bytes()
        except OSError as error:
            raise DeployError(f"cannot read the package {path}: {error.strerror}") from error
    return zips


def parse_parameters(pairs: list[str], template: dict) -> dict[str, str]:
    parameters = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise DeployError(f"--parameter wants KEY=VALUE, not {pair!r}")
        if key not in template.get("Parameters", {}):
            raise DeployError(f"the template has no parameter {key!r}")
        parameters[key] = value
    return parameters


def deploy(arguments: argparse.Namespace) -> dict:
    template = read_template(arguments.template)
    parameters = parse_parameters(arguments.parameter, template)
    functions = functions_of(template)
    zips = read_zips(arguments.zips, list(functions.values()))
    emulator = Emulator(arguments.endpoint)

    bucket = f"{arguments.stack}-packages"
    emulator.make_bucket(bucket)
    keys = upload_code(emulator, bucket, zips)
    for logical_id, binary in functions.items():
        template["Resources"][logical_id]["Properties"]["CodeUri"] = {"Bucket": bucket, "Key": keys[binary]}

    call_the_latest_code(template)
    transformed = transform(template, parameters)
    expand_http_apis(transformed)
    settle_types(transformed, parameters)
    tell_log_levels(transformed)
    stack = create_or_update(emulator, arguments.stack, bucket, transformed, parameters)
    names = emulator.names_in(arguments.stack)
    make_sure_of_code(emulator, names, functions, zips)
    switch_on_time_to_live(emulator, names, template)
    for stale in emulator.keys_in(bucket) - set(keys.values()) - {"template.json"}:
        emulator.s3.delete_object(Bucket=bucket, Key=stale)
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--template", type=pathlib.Path, required=True)
    parser.add_argument("--endpoint", required=True, help="the emulator, such as http://127.0.0.1:4566")
    parser.add_argument("--stack", required=True, help="the stack's name")
    parser.add_argument("--zips", type=pathlib.Path, required=True, help="directory with a BINARY.zip per function")
    parser.add_argument("--parameter", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    # A profile or an endpoint of the developer's own must not decide anything here.
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(AWS_DEFAULT_REGION=REGION, AWS_EC2_METADATA_DISABLED="true")
    try:
        outputs = deploy(arguments)
    except DeployError as error:
        say(f"deploy: {error}")
        return 1
    except Exception as error:
        from botocore.exceptions import BotoCoreError

        if not isinstance(error, BotoCoreError):
            raise
        say(f"deploy: the emulator at {arguments.endpoint} does not answer: {error}")
        return 1
    print(json.dumps(outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main())

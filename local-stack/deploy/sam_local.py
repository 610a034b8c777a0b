"""Prepares `sam local invoke`: the image it runs functions in, and a template of functions that are built already.

Where Amazon's image can be pulled, that is the one. Otherwise one is made of this machine's own libraries and of the
runtime emulator that comes with SAM, and tagged as SAM expects. It has this machine's glibc, so that a function runs in
it proves nothing of Amazon Linux's.

The template is the one that goes to AWS; only the code's place is this machine's, and each function's settings are those
of a running local stack. Progress goes to stderr; stdout gets the address under which containers see this machine.
"""

import argparse
import io
import ipaddress
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import docker
import samcli

from deploy import DeployError, functions_of, read_template, say

REPOSITORY = "public.ecr.aws/lambda/provided"
PLAIN, WITH_EMULATOR = "al2023-x86_64", "al2023-rapid-x86_64"
RUNTIME_EMULATOR = pathlib.Path(samcli.__file__).parent / "local/rapid/aws-lambda-rie-x86_64"
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
# Loaded by name when a host is looked up, so no program lists them.
NAME_SERVICE = ("libresolv.so.2", "libnss_dns.so.2", "libnss_files.so.2")


def libraries_of(program: pathlib.Path) -> dict[str, pathlib.Path]:
    """The libraries a program needs, by the path at which it looks for them, and those that look up hosts."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", listed)]
    beside_libc = next(path.parent for path in paths if path.name == "libc.so.6")
    paths += [beside_libc / name for name in NAME_SERVICE if (beside_libc / name).exists()]
    return {str(path): path.resolve() for path in paths}


def root_of(program: pathlib.Path) -> bytes:
    """A file system with all that a function and the runtime emulator need, as a tar archive."""
    files = libraries_of(program) | {"/var/rapid/aws-lambda-rie": RUNTIME_EMULATOR}
    if CERTIFICATES.exists():
        files[str(CERTIFICATES)] = CERTIFICATES.resolve()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for directory, mode in (("tmp", 0o1777), ("var/task", 0o755), ("var/runtime", 0o755), ("opt", 0o755)):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        for name, source in files.items():
            entry = tarfile.TarInfo(name.lstrip("/"))
            content = source.read_bytes()
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
        hosts = b"hosts: files dns\n"
        entry = tarfile.TarInfo("etc/nsswitch.conf")
        entry.size = len(hosts)
        archive.addfile(entry, io.BytesIO(hosts))
    return buffer.getvalue()


def has_image(client: docker.DockerClient, tag: str) -> bool:
    try:
        client.images.get(f"{REPOSITORY}:{tag}")
        return True
    except docker.errors.ImageNotFound:
        return False


def provide_image(client: docker.DockerClient, program: pathlib.Path) -> None:
    if has_image(client, PLAIN):
        return
    try:
        client.images.pull(REPOSITORY, tag=PLAIN)
        say("Amazon's image: pulled")
        return
    except docker.errors.APIError as error:
        say(f"Amazon's image cannot be pulled ({error.explanation or error}); making one of this machine's libraries")
    changes = ["WORKDIR /var/task", 'ENTRYPOINT ["/var/rapid/aws-lambda-rie"]']
    for tag in (PLAIN, WITH_EMULATOR):
        client.api.import_image_from_data(root_of(program), repository=REPOSITORY, tag=tag, changes=changes)


def write_template(source: pathlib.Path, zips: pathlib.Path, settings: dict, directory: pathlib.Path) -> list[pathlib.Path]:
    """Writes template.json with the functions' programs beside it, and returns these."""
    template = read_template(source)
    programs = []
    for logical_id, binary in functions_of(template).items():
        code = directory / binary
        code.mkdir(parents=True)
        with zipfile.ZipFile(zips / f"{binary}.zip") as archive:
            programs.append(pathlib.Path(archive.extract("bootstrap", code)))
        programs[-1].chmod(0o755)
        properties = template["Resources"][logical_id]["Properties"]
        properties["CodeUri"] = str(code.resolve())
        properties["Environment"] = {"Variables": settings[logical_id]}
        # Without it SAM would say that the function was never built.
        del template["Resources"][logical_id]["Metadata"]
    (directory / "template.json").write_text(json.dumps(template), encoding="utf-8")
    return programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--template", type=pathlib.Path, required=True)
    parser.add_argument("--zips", type=pathlib.Path, required=True, help="directory with a BINARY.zip per function")
    parser.add_argument("--directory", type=pathlib.Path, required=True, help="made anew, for the template and the code")
    arguments = parser.parse_args()
    try:
        client = docker.from_env()
        client.ping()
    except docker.errors.DockerException:
        print("Docker does not answer: it is needed for `sam local`, and only for that", file=sys.stderr)
        return 1
    try:
        shutil.rmtree(arguments.directory, ignore_errors=True)
        # Each function's environment variables, by its name in the template.
        settings = json.load(sys.stdin)
        programs = write_template(arguments.template, arguments.zips, settings, arguments.directory)
        provide_image(client, programs[0])
        bridge = client.networks.get("bridge").attrs["IPAM"]["Config"][0]
        # Docker does not say so of a bridge that no container has used yet; then it is the first address.
        print(bridge.get("Gateway") or next(ipaddress.ip_network(bridge["Subnet"]).hosts()))
    except (DeployError, OSError, docker.errors.DockerException) as error:
        say(f"sam_local: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what a built hyprof is made of, as an SPDX document (2.3, JSON).

Usage: make_sbom.py BINARY VERSION YYYY-MM-DD PACKAGE...

The packages are those that the build needs, by their names in Debian; those that are not installed were not needed.
The libraries that BINARY loads are found by the loader, and their packages by dpkg.  The same machine gives the same
bytes: the date is that of the release.
"""
import hashlib
import json
import re
import subprocess
import sys


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def loaded_packages(binary: str) -> list[str]:
    """The packages of the shared libraries that the binary loads, also those that others of them load."""
    paths = [output_of('realpath', path).strip()
             for path in re.findall(r'(?:=> |^\s*)(/\S+) \(0x', output_of('ldd', binary), re.M)]
    # dpkg knows some by their names before /lib became a link to /usr/lib.  One call: each reads all lists of files.
    names = [name for path in paths for name in (path, path.removeprefix('/usr'))]
    found = subprocess.run(['dpkg', '-S', *names], check=False, capture_output=True, text=True)
    owners = {}
    for row in found.stdout.splitlines():
        packages, path = row.rsplit(': ', 1)
        owners['/usr' + path if path.startswith('/lib') else path] = packages.split(',')[0].split(':')[0]
    for path in paths:
        if path not in owners:
            raise SystemExit(f'make_sbom.py: {path}: belongs to no package')
    return sorted({owners[path] for path in paths})


def is_installed(name: str) -> bool:
    command = ['dpkg-query', '-W', '-f', '${db:Status-Status}\n', name]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    return found.returncode == 0 and found.stdout.startswith('installed')


def describe(name: str) -> dict[str, object]:
    form = '${Package}\t${Version}\t${Architecture}\t${source:Package}\n'
    rows = output_of('dpkg-query', '-W', '-f', form, name).splitlines()
    package, version, architecture, source = rows[0].split('\t')
    place = package.replace('+', '%2B') + '@' + version.replace(':', '%3A')
    return {
        'SPDXID': 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', package),
        'name': package,
        'versionInfo': version,
        'downloadLocation': 'NOASSERTION',
        'filesAnalyzed': False,
        'licenseConcluded': 'NOASSERTION',
        'licenseDeclared': 'NOASSERTION',
        'copyrightText': 'NOASSERTION',
        'sourceInfo': f'Debian source package {source}',
        'externalRefs': [{
            'referenceCategory': 'PACKAGE-MANAGER',
            'referenceType': 'purl',
            'referenceLocator': f'pkg:deb/debian/{place}?arch={architecture}',
        }],
    }


def main() -> int:
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 2
    binary, version, date, *named = sys.argv[1:]
    needed = sorted(filter(is_installed, set(named)))
    with open(binary, 'rb') as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    loaded = loaded_packages(binary)
    own = {
        'SPDXID': 'SPDXRef-hyprof-itself',
        'name': 'hyprof',
        'versionInfo': version,
        'downloadLocation': 'NOASSERTION',
        'filesAnalyzed': False,
        'licenseConcluded': 'MIT',
        'licenseDeclared': 'MIT',
        'copyrightText': 'NOASSERTION',
        'checksums': [{'algorithm': 'SHA256', 'checksumValue': digest}],
    }
    packages = {name: describe(name) for name in sorted({*loaded, *needed})}
    relations = [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                  'relatedSpdxElement': own['SPDXID']}]
    for name, package in packages.items():
        if name in loaded:
            relations.append({'spdxElementId': own['SPDXID'], 'relationshipType': 'DYNAMIC_LINK',
                              'relatedSpdxElement': package['SPDXID']})
        if name in needed:
            relations.append({'spdxElementId': package['SPDXID'], 'relationshipType': 'BUILD_DEPENDENCY_OF',
                              'relatedSpdxElement': own['SPDXID']})
    json.dump({
        'spdxVersion': 'SPDX-2.3',
        'dataLicense': 'CC0-1.0',
        'SPDXID': 'SPDXRef-DOCUMENT',
        'name': f'hyprof-{version}',
        'documentNamespace': f'urn:hyprof:spdx:{version}:{digest}',
        'creationInfo': {'created': f'{date}T00:00:00Z', 'creators': ['Tool: make_sbom.py']},
        'packages': [own, *packages.values()],
        'relationships': relations,
    }, sys.stdout, indent=1)
    print()
    return 0


if __name__ == '__main__':
    sys.exit(main())
